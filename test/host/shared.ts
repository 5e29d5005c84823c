/** Of several tests of the client. */

/** Of widgets, with whole sizes. */
export const definition = () => ({
  metadata: { name: 'widgets.example.com' },
  spec: {
    group: 'example.com', scope: 'Namespaced', names: { plural: 'widgets', singular: 'widget', kind: 'Widget', listKind: 'WidgetList' },
    versions: [{ name: 'v1', served: true, storage: true, schema: { openAPIV3Schema: { type: 'object', properties: { spec: { type: 'object', properties: { size: { type: 'integer' } } } } } } }]
  }
})

/** Asks again and again, in later turns; the runner ends a test that waits in vain. */
export async function until (holds: () => boolean | Promise<boolean>): Promise<void> {
  while (!await holds()) await new Promise(resolve => { setTimeout(resolve, 5) })
}
