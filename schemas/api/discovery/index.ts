/** The resources of discovery.orch.io. */
import { endpointSlices } from './endpointslices.js'

export const discovery = [endpointSlices]
