/** Counts votes in a ConfigMap. `countOnce` is right; `countTwice` has a bug that only a bad network shows. */
import { randomUUID } from 'node:crypto'
import { CoreV1Api } from '@kubernetes/client-node'

const PLACE = { namespace: 'default', name: 'tally' }
const REMEMBERED = 20

/** Repeats until there is an answer; a conflict or a broken connection is tried again. */
async function untilAnswered (attempt) {
  for (;;) {
    try {
      return await attempt()
    } catch (error) {
      if (error.code !== undefined && error.code !== 409 && error.code < 500) throw error
    }
  }
}

/** The bug: when the connection breaks after the write and before its answer, the vote is counted again. */
export async function countTwice (config) {
  const api = config.makeApiClient(CoreV1Api)
  await untilAnswered(async () => {
    const tally = await api.readNamespacedConfigMap(PLACE)
    await api.replaceNamespacedConfigMap({
      ...PLACE, body: { ...tally, data: { ...tally.data, votes: String(Number(tally.data.votes) + 1) } }
    })
  })
}

/** Each vote has an id, and the newest ids are kept with the sum. */
export async function countOnce (config) {
  const api = config.makeApiClient(CoreV1Api)
  const id = randomUUID()
  await untilAnswered(async () => {
    const tally = await api.readNamespacedConfigMap(PLACE)
    const ids = (tally.data.ids ?? '').split(' ')
    if (ids.includes(id)) return
    await api.replaceNamespacedConfigMap({
      ...PLACE,
      body: {
        ...tally, data: { votes: String(Number(tally.data.votes) + 1), ids: [...ids, id].slice(-REMEMBERED).join(' ') }
      }
    })
  })
}
