/** The parts of the front page that a server in memory seldom shows: checks that fail or hang, and who makes HTML. */
import t from 'tap'
import { healthSection } from '../../routes/front-page/health.js'
import { html, Html } from '../../answers/page/html.js'
import { Rights } from '../../routes/front-page/rights.js'

const ANN = { username: 'ann', uid: '', groups: [], extra: {} }

t.test('only templates make HTML', async t => {
  t.equal(
    html`<p title="${'"><b>\'&'}">${['<i>'].map(one => html`<li>${one}</li>`)}${3}</p>`.toString(),
    '<p title="&quot;&gt;&lt;b&gt;&#39;&amp;"><li>&lt;i&gt;</li>3</p>'
  )
  for (const pretender of [{ toString: () => '<b>' }, { text: '<b>' }, ['<b>'], Object.create(Html.prototype)]) {
    try {
      t.notMatch(html`${pretender as string}`.toString(), '<b>', 'values of clients are never templates')
    } catch (error) {
      t.type(error, TypeError)
    }
  }
  t.equal(
    html`${'a\u0000b\u202ec\u001b[1m'}`.toString(), 'a\ufffdb\ufffdc\ufffd[1m', 'nothing turns the text around it'
  )
})

t.test('a failing check is named, and one that hangs is not waited for', async t => {
  const asked: string[] = []
  const health = {
    run: (endpoint: string) => [
      { name: 'ping', passes: Promise.resolve(true) }, { name: 'etcd', passes: new Promise<boolean>(() => {}) },
      ...endpoint === 'livez' ? [] : [{ name: 'informer-sync', passes: Promise.resolve(false) }]
    ]
  }
  const rights = new Rights(
    { name: 'all', authorize: ({ info }) => { asked.push(info.path); return { decision: 'Allow' } } }, ANN
  )
  const text = (await healthSection(health as unknown as Parameters<typeof healthSection>[0], rights)).toString()
  t.match(
    text,
    '<details open><summary><strong class="bad">Not ready</strong> 2 of 3 checks of readyz: etcd, informer-sync; ' +
    'the slowest, etcd, took'
  )
  t.match(text, 'Not live</strong> 1 of 2 checks of livez: etcd')
  t.match(text, /<th scope="row" class="long">etcd<\/th><td>no answer yet<\/td>/)
  await rights.get('/livez')
  t.same(asked, ['/readyz', '/livez'], 'each path is authorized once')
})
