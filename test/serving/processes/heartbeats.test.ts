import t from 'tap'
import { Heartbeats } from '../../../serving/processes/heartbeats.js'

t.test('a process that does not answer is silent after one question, and hangs after fifteen', t => {
  const seen: string[] = []
  let all = ['one', 'other'].map(name => ({ name, ping: () => { seen.push(`ask ${name}`) } }))
  const heartbeats = new Heartbeats({
    all: () => all,
    silent: ({ name }) => { seen.push(`silent ${name}`) },
    answers: ({ name }) => { seen.push(`answers ${name}`) },
    hangs: ({ name }, seconds) => { seen.push(`hangs ${name} ${seconds}`) }
  })
  const [one, other] = all
  if (one === undefined || other === undefined) throw new Error('there are two')
  const since = (): string[] => seen.splice(0)
  heartbeats.beat()
  t.same(since(), ['ask one', 'ask other'])
  heartbeats.answered(one)
  heartbeats.beat()
  t.same(since(), ['ask one', 'silent other'])
  heartbeats.answered(one)
  heartbeats.answered(other)
  t.same(since(), ['answers other'])
  all = [other]
  for (let beat = 0; beat < 30; beat++) heartbeats.beat()
  t.same(since(), ['ask other', 'silent other', 'hangs other 15'])
  heartbeats.remove(other)
  heartbeats.beat()
  t.same(since(), ['ask other'], 'the next process is another one')
  t.end()
})
