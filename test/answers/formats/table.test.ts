import t from 'tap'
import { tableOf } from '../../../answers/formats/table.js'
import { OWN_NAMES } from '../../../schemas/naming.js'
import { CellBudget } from '../../../schemas/cell-budget.js'
import { agesAt } from '../../../schemas/meta/duration.js'
import { decode } from '../../../schemas/language/decode.js'
import { scaleColumns } from '../../../schemas/api/autoscaling/columns.js'
import { Scale } from '../../../schemas/api/autoscaling/scale.js'

t.test('a subresource that is another message than its object is a row of its own columns', async t => {
  const metadata = { name: 'web', namespace: 'shop', resourceVersion: '7' }
  const { object } = decode(Scale, { metadata, spec: { replicas: 4 }, status: { replicas: 3 } })
  const form = {
    include: 'Metadata', version: 'meta.orch.io/v1', ages: agesAt(Date.now()), budget: new CellBudget()
  } as const
  t.match(tableOf({ columns: scaleColumns as never }, object, OWN_NAMES, form), {
    kind: 'Table',
    metadata: { resourceVersion: '7' },
    columnDefinitions: [{ name: 'Name', format: '' }, { name: 'Desired' }, { name: 'Available' }, { name: 'Age' }],
    rows: [{ cells: ['web', 4, 3, '<unknown>'], object: { kind: 'PartialObjectMetadata', metadata } }]
  })
})
