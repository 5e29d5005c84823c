import { apiPackage } from '../language/declare.js'

const PREFIX = 'io.orch.apimachinery.pkg.apis.meta.v1'

/** meta.orch.io/v1. */
export const { message, kind, special } = apiPackage('meta.orch.io', 'v1', PREFIX)

/** Kinds accepted under any group version: Status, options, discovery. */
export const { kind: unversioned } = apiPackage('meta.orch.io', 'v1', PREFIX, { kindVersion: 'v1', anyVersion: true })
