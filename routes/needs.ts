/** What routes find on the server. */
import type { Having } from '../plugins/shared/plugin.js'

export const NEEDS = [
  'orchAggregation', 'orchAuthentication', 'orchAuthorization', 'orchClock', 'orchConnections', 'orchHealth',
  'orchMetrics', 'orchResources', 'orchSettings', 'orchShutdown', 'orchSlowRequests', 'orchStandalone', 'orchUnderWay'
] as const

/** A server as its routes find it. */
export type RoutedServer = Having<typeof NEEDS[number]>
