/** RuntimeClass of node.orch.io/v1. */
import type { Static } from '../../language/declare.js'
import { declare } from './declarations.js'

export const API_VERSION = 'node.orch.io/v1'

export const { Overhead, Scheduling, RuntimeClass } = declare('v1')

export type Overhead = Static<typeof Overhead>
export type Scheduling = Static<typeof Scheduling>
export type RuntimeClass = Static<typeof RuntimeClass>
