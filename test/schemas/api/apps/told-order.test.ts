/** Causes of daemon sets come in the order of the convention. */
import t from 'tap'
import { daemonSets } from '../../../../schemas/api/apps/daemonsets.js'
import { tells } from '../cases.js'

const set = { metadata: { name: 'agent', namespace: 'default' }, spec: { selector: { matchLabels: { app: 'x' } }, template: { metadata: { labels: { app: 'x' } }, spec: { containers: [{ name: 'main', image: 'busybox' }] } } } }

t.test('the selector, the template, how it is replaced', async t => {
  tells(t, daemonSets, set, { 'spec.revisionHistoryLimit': -1, 'spec.updateStrategy': { type: 'Other' }, 'spec.minReadySeconds': -1, 'spec.template.spec.containers[0].image': '', 'spec.template.metadata.labels': { app: 'y' } },
    ['spec.template.metadata.labels', 'spec.template.spec.containers[0].image', 'spec.minReadySeconds', 'spec.updateStrategy', 'spec.revisionHistoryLimit'])
  const R = 'spec.updateStrategy.rollingUpdate'
  const updating = { 'spec.updateStrategy': { type: 'RollingUpdate', rollingUpdate: { maxUnavailable: '101%', maxSurge: '-1%' } } }
  tells(t, daemonSets, set, updating, [`${R}.maxSurge`, `${R}.maxUnavailable`])
})
