import t from 'tap'
import { COMPACT } from '../../../answers/formats/json.js'
import { tableForm } from '../../../answers/formats/table.js'
import { OWN_VIEW } from '../../../answers/view.js'
import { systemClock } from '../../../event-loop/clock.js'
import type { ResourceStore } from '../../../registry/resource-store.js'
import type { Message } from '../../../schemas/language/declare.js'
import { decode } from '../../../schemas/language/decode.js'
import { scaleColumns } from '../../../schemas/api/autoscaling/columns.js'
import { Scale } from '../../../schemas/api/autoscaling/scale.js'

t.test('a subresource that is another message than its object is a row of its own columns', async t => {
  const metadata = { name: 'web', namespace: 'shop', resourceVersion: '7' }
  const { object } = decode(Scale, { metadata, spec: { replicas: 4 }, status: { replicas: 3 } })
  const store = { clock: systemClock } as unknown as ResourceStore // the member that is read
  const table = tableForm(COMPACT, 'meta.orch.io/v1', 'Metadata').object(OWN_VIEW, {
    message: Scale as Message<object>, object, forms: { store, tabular: { columns: scaleColumns as never } }
  })
  t.match(JSON.parse(table.toString()), {
    kind: 'Table',
    metadata: { resourceVersion: '7' },
    columnDefinitions: [{ name: 'Name', format: '' }, { name: 'Desired' }, { name: 'Available' }, { name: 'Age' }],
    rows: [{ cells: ['web', 4, 3, '<unknown>'], object: { kind: 'PartialObjectMetadata', metadata } }]
  })
})
