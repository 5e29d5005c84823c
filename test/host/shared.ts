/** Of several tests of the client. */

/** Of widgets, with whole sizes. */
export const definition = () => ({
  metadata: { name: 'widgets.example.com' },
  spec: {
    group: 'example.com', scope: 'Namespaced',
    names: { plural: 'widgets', singular: 'widget', kind: 'Widget', listKind: 'WidgetList' },
    versions: [
      {
        name: 'v1',
        served: true,
        storage: true,
        schema: {
          openAPIV3Schema: {
            type: 'object', properties: { spec: { type: 'object', properties: { size: { type: 'integer' } } } }
          }
        }
      }
    ]
  }
})

export { polled as until } from '../polled.js'
