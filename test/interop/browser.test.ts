/**
 * The front page in Debian's Chromium: over HTTP/2 with a token, through `kubectl proxy`, and what it does with texts
 * that would be more than text.
 */
import t from 'tap'
import { mkdirSync, writeFileSync } from 'node:fs'
import type { ServerOptions } from '../../app.js'
import { browser } from '../browser.js'
import type { Json } from '../build.js'
import { ATTACK, dashboardRole, eventOf, TOKENS } from '../routes/front-page-objects.js'
import { serve } from '../secure-server.js'
import { Kubectl, programs } from './kubectl.js'

const bearer = (token: string): Record<string, string> => ({ authorization: `Bearer ${token}` })

const OPTIONS: ServerOptions = {
  authentication: { tokens: TOKENS },
  authorization: { modes: ['RBAC'] },
  limits: { priorityAndFairness: true },
  profiling: {}
}

/** `SCREENSHOTS=FOLDER` keeps what the browser has drawn. */
const keep = (name: string, png: Buffer): void => {
  const folder = process.env['SCREENSHOTS']
  if (folder === undefined) return
  mkdirSync(folder, { recursive: true })
  writeFileSync(`${folder}/${name}.png`, png)
}

t.test('a browser renders one page, which loads nothing and violates no policy', async t => {
  const server = await serve(t, OPTIONS)
  for (const body of dashboardRole('ann')) await server.post(body.url, body.object, bearer('root'))
  for (let at = 0; at < 25; at++) {
    await server.post(
      '/api/v1/namespaces/default/events',
      eventOf(`e-${at}`, at === 24 ? ATTACK : `Stopped container number ${at}`, at % 5 === 4 ? 'Warning' : 'Normal'),
      bearer('root')
    )
  }
  const page = await browser(t)
  const url = `https://127.0.0.1:${server.port}/`
  const response = await page.open(url, bearer('root'))
  t.match(response, { status: 200, protocol: 'h2', mimeType: 'text/html' })
  t.same(page.requests, [url], 'it requests nothing else')
  t.same(page.complaints, [], 'no policy is broken and no error is reported')
  const shown = await page.evaluate(
    '({ title: document.title, text: document.body.innerText, headings: [...document.querySelectorAll("h1, ' +
    'h2")].map(e => e.textContent), scripts: document.querySelectorAll("script, img, iframe, object, embed, form, ' +
    'link:not([rel=icon])").length, handlers: [...document.querySelectorAll("*")].flatMap(e => ' +
    '[...e.attributes]).filter(a => a.name.startsWith("on")).length, font: ' +
    'getComputedStyle(document.body).fontFamily })'
  ) as Json
  t.match(shown, {
    title: 'orch-apiserver',
    headings: ['orch-apiserver', 'Health', 'What is slow now', 'Latest events', 'Resources', 'Documents'],
    scripts: 0,
    handlers: 0,
    font: /system-ui/
  })
  t.match(shown['text'], /Ready/)
  t.ok(shown['text'].includes(ATTACK), 'an attack is text')
  await page.evaluate('document.querySelectorAll("details").forEach(e => { e.open = true })')
  for (const [name, look] of Object.entries({
    light: {},
    dark: { dark: true },
    phone: { width: 360, height: 740 },
    'dark-phone': { width: 360, height: 740, dark: true }
  })) {
    const png = await page.screenshot(look)
    t.equal(png.subarray(1, 4).toString(), 'PNG')
    keep(name, png)
    t.equal(
      await page.evaluate('document.documentElement.scrollWidth <= innerWidth'), true,
      `${name}: nothing is cut off to the right`
    )
  }
})

t.test(
  'kubectl proxy brings the page to a browser that has no credentials, with the rights of the kubeconfig', async t => {
    const server = await serve(t, OPTIONS)
    const name = '<script>alert(1)</script>'
    for (const { url, object } of dashboardRole('bob')) {
      await server.post(
        url, url.endsWith('bindings') ? { ...object, subjects: [{ ...object['subjects'][0], name }] } : object,
        bearer('root')
      )
    }
    await server.post('/api/v1/namespaces/default/events', eventOf('e', ATTACK), bearer('root'))
    await server.post('/api/v1/namespaces/default/configmaps', { metadata: { name: 'c' } }, bearer('root'))
    const folder = t.testdir({
      kubeconfig: JSON.stringify({
        apiVersion: 'v1', kind: 'Config', 'current-context': 'c',
        contexts: [{ name: 'c', context: { cluster: 'c', user: 'u' } }], users: [{ name: 'u', user: { token: 'bob' } }],
        clusters: [
          { name: 'c', cluster: { server: `https://127.0.0.1:${server.port}`, 'insecure-skip-tls-verify': true } }
        ]
      })
    })
    const page = await browser(t)
    for (const program of programs()) {
      const proxy = new Kubectl(t, program, `${folder}/kubeconfig`).begin(t, 'proxy', '--port=0')
      await proxy.shows(/^Starting to serve on 127\.0\.0\.1:\d+$/m)
      const url = `http://127.0.0.1:${/127\.0\.0\.1:(\d+)/.exec(proxy.out)?.[1]}/`
      t.match(await page.open(url), { status: 200, protocol: 'http/1.1' })
      t.same(page.requests, [url])
      t.same(page.complaints, [])
      const text = String(await page.evaluate('document.body.innerText'))
      t.match(text, `You are ${name}`)
      t.match(text, /configmaps\s+core\s+1/)
      t.match(text, 'Not permitted: you may not list events')
      t.notOk(text.includes(ATTACK))
      const link = String(await page.evaluate(
        '[...document.links].find(({ textContent }) => textContent === "configmaps").href'
      ))
      t.match(await page.open(link), { status: 200, url: `${url}api/v1/configmaps?limit=500` })
      t.match(await page.evaluate('document.body.innerText'), '"kind": "ConfigMapList"', 'links lead through the proxy')
    }
    t.match(
      await page.open(`https://127.0.0.1:${server.port}/`), { status: 403, mimeType: 'text/html' },
      'a stranger is refused'
    )
    t.match(await page.evaluate('document.body.innerText'), 'kubectl proxy', 'and told how to get in')
  }
)
