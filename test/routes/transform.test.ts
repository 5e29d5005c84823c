import t from 'tap'
import type { FastifyRequest } from 'fastify'
import { transformed } from '../../routes/transform.js'
import { decode } from '../../schemas/index.js'
import { scaleColumns } from '../../schemas/api/autoscaling/columns.js'
import { Scale } from '../../schemas/api/autoscaling/scale.js'
import { finish } from '../../schemas/steps.js'
import { systemClock } from '../../event-loop/clock.js'

t.test('a subresource that is another message than its object is a row of its own columns', async t => {
  const metadata = { name: 'web', namespace: 'shop', resourceVersion: '7' }
  const { object } = decode(Scale, { metadata, spec: { replicas: 4 }, status: { replicas: 3 } })
  const request = { orch: { query: new URLSearchParams() }, server: { orch: { clock: systemClock } } } as unknown as FastifyRequest // the members that are read
  t.match(finish(transformed(request, { columns: scaleColumns as never }, { format: 'json', as: 'Table', asVersion: 'meta.orch.io/v1' }, object)), {
    kind: 'Table',
    metadata: { resourceVersion: '7' },
    columnDefinitions: [{ name: 'Name', format: '' }, { name: 'Desired' }, { name: 'Available' }, { name: 'Age' }],
    rows: [{ cells: ['web', 4, 3, '<unknown>'], object: { kind: 'PartialObjectMetadata', metadata } }]
  })
})
