import t from 'tap'
import { controllerRevisions } from '../../../../schemas/api/apps/controllerrevisions.js'
import { creates, updates } from '../cases.js'

const revision = { metadata: { name: 'web-1', namespace: 'default' }, data: { spec: { a: 1 } }, revision: 1 }

t.test('a revision keeps a state', async t => {
  creates(t, controllerRevisions, revision, [
    [{}],
    [{ data: undefined }, 'Required data'],
    [{ revision: -1 }, 'Invalid revision']
  ])
  updates(t, controllerRevisions, revision, [
    [{ revision: 2 }],
    [{ 'data.spec.a': 2 }, 'Invalid data'],
    [{ data: { spec: { a: 1 }, status: {} } }, 'Invalid data'],
    [{ revision: -2 }, 'Invalid revision']
  ])
})
