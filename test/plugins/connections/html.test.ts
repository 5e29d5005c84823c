import t from 'tap'
import { Readable } from 'node:stream'
import { deflateRawSync, gunzipSync, gzipSync, inflateRawSync } from 'node:zlib'
import { rewriteLinks } from '../../../plugins/connections/html.js'

const place = { prefix: '/proxy', backend: '192.0.2.7:80', host: 'api.example' }

async function rewritten (pieces: readonly Buffer[], encoding?: string): Promise<Buffer> {
  const page = rewriteLinks(Readable.from(pieces), encoding, place)
  if (page === undefined) throw new Error('it is not rewritten')
  const chunks: Buffer[] = []
  for await (const chunk of page) chunks.push(chunk as Buffer)
  return Buffer.concat(chunks)
}

const CASES = [
  ['<a href="/x?a=1&amp;b#c">/x</a>', '<a href="/proxy/x?a=1&amp;b#c">/x</a>'],
  ["<A class='/x' HREF='/x/'>", "<A class='/x' HREF='/proxy/x/'>"],
  ['<img src=/x.png alt=/x><img src = "http://192.0.2.7:80/y">', '<img src=/proxy/x.png alt=/x><img src = "/proxy/y">'],
  ['<link rel=icon href="https://elsewhere/x"><a href="x/y"><a href="#z"><a href="/proxy/known">', undefined],
  ['<a href="//api.example/x">', '<a href="//api.example/proxy/x">'],
  [
    '<script src="/a.js">if (a < b) "<a href=\\"/x\\">"</script><a href="/x">',
    '<script src="/proxy/a.js">if (a < b) "<a href=\\"/x\\">"</script><a href="/proxy/x">'
  ],
  ['<style>a > b</style><!-- <a href="/x"> --><!doctype html><?php <a href="/x"?>', undefined],
  [
    '<title></title><a title="a > b" href="/x">1 < 2 <3 ä €</a>',
    '<title></title><a title="a > b" href="/proxy/x">1 < 2 <3 ä €</a>'
  ],
  [
    '<object data="/d" classid="/c"><form action=/f><video poster="/p" src="/v"></video>',
    '<object data="/proxy/d" classid="/proxy/c"><form action=/proxy/f><video poster="/proxy/p" src="/proxy/v"></video>'
  ],
  ["<a title=it's href='/x'>that's</a>", "<a title=it's href='/proxy/x'>that's</a>"],
  ['<a href="/never ends', undefined],
  ['<', undefined],
  ['', undefined]
] as const

t.test('links that lead to the backend lead through the proxy, and nothing else changes', async t => {
  for (const [page, expected = page] of CASES) {
    const bytes = Buffer.from(page)
    t.equal((await rewritten([bytes])).toString(), expected, page)
    t.equal((await rewritten([...bytes].map(byte => Buffer.of(byte)))).toString(), expected, `${page} byte by byte`)
  }
})

t.test('a packed page is packed again', async t => {
  const [page, expected] = CASES[0]
  t.equal(gunzipSync(await rewritten([gzipSync(page)], 'gzip')).toString(), expected)
  t.equal(inflateRawSync(await rewritten([deflateRawSync(page)], 'deflate')).toString(), expected)
  t.equal(rewriteLinks(Readable.from([]), 'br', place), undefined)
  await t.rejects(rewritten([Buffer.from('not packed')], 'gzip'))
})

t.test('no page takes longer than its length', async t => {
  for (const piece of [
    '<a', '<a "', '<a x', '<a href="', '<!--', '<script>', ' =', '<a ='.repeat(3), '</a>', '<!>', '<!---->',
    '<script></SCRIPT>'
  ]) {
    const page = piece.repeat(400_000 / piece.length)
    t.equal((await rewritten([Buffer.from(page)])).length, page.length, piece)
    const tag = `<a ${piece.repeat(5000)}>`
    t.ok((await rewritten([Buffer.from(tag.repeat(20))])).length >= tag.length * 20, `${piece} in tags`)
  }
})

t.test('a tag without an end is not held for ever', async t => {
  const page = rewriteLinks(
    Readable.from([Buffer.from(`<a ${'x'.repeat(100_000)}`), Buffer.from('<a href="/x">')]), undefined, place
  )
  let text = ''
  for await (const chunk of page ?? []) text += String(chunk)
  t.match(text, /x<a href="\/proxy\/x">$/)
})
