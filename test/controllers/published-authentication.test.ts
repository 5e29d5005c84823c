/** What servers behind this one learn of its authentication. */
import t from 'tap'
import { writeFileSync } from 'node:fs'
import { joinBundles, published } from '../../controllers/published-authentication.js'
import { Authorities } from '../../auth/authorities.js'
import { certify } from '../../serving/certify.js'
import { flagged, SERVER_FILES } from '../flagged-server.js'
import { build } from '../build.js'
import { until } from '../interop/server.js'
import { authority } from '../serving/authority.js'

const [clients, proxies, more] = [
  authority('clients').certificate, authority('proxies').certificate, authority('more').certificate
]
const MAPS = '/api/v1/namespaces/orch-system/configmaps'
const MAP = `${MAPS}/extension-apiserver-authentication`

t.test('the config map has the authorities, and the headers as lists in JSON; it follows the files', async t => {
  const folder = t.testdir({ ...SERVER_FILES, clients, proxies })
  const server = await flagged(t, folder, [
    `--client-ca-file=${folder}/clients`, `--requestheader-client-ca-file=${folder}/proxies`,
    '--requestheader-username-headers=X-Remote-User', '--requestheader-group-headers=X-Remote-Group',
    '--requestheader-extra-headers-prefix=X-Remote-Extra-', '--requestheader-allowed-names=front,back'
  ])
  const data = async () => (await server.get(MAP)).json.data
  t.same(await data(), {
    'client-ca-file': clients,
    'requestheader-client-ca-file': proxies,
    'requestheader-allowed-names': '["front","back"]',
    'requestheader-username-headers': '["X-Remote-User"]',
    'requestheader-group-headers': '["X-Remote-Group"]',
    'requestheader-extra-headers-prefix': '["X-Remote-Extra-"]'
  })
  writeFileSync(`${folder}/clients`, more)
  await server.look()
  await until('the new authority to be published', async () => (await data())['client-ca-file'] === `${clients}${more}`)
  t.equal((await server.get('/readyz/poststarthook/start-cluster-authentication-info-controller')).code, 200)
})

t.test('where extension servers learn the UID, they learn its headers too', async t => {
  const folder = t.testdir({ ...SERVER_FILES, proxies })
  const flags = [
    `--requestheader-client-ca-file=${folder}/proxies`, '--requestheader-username-headers=X-Remote-User',
    '--requestheader-uid-headers=X-Remote-Uid'
  ]
  t.match((await (await flagged(t, folder, [...flags, '--emulated-version=1.36'])).get(MAP)).json.data, {
    'requestheader-uid-headers': '["X-Remote-Uid"]'
  })
  t.notOk('requestheader-uid-headers' in (await (await flagged(t, folder, flags)).get(MAP)).json.data)
})

t.test('without client authorities there is no config map', async t => {
  const server = await build(t)
  t.equal((await server.get(MAP)).code, 404)
})

t.test('valid entries of another server stay', async t => {
  const expired = certify({
    commonName: 'old', uses: ['client'], authority: true, from: new Date(0), until: new Date(1e12)
  }).certificate
  const broken = '-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----'
  t.equal(joinBundles(`${more}${expired}${broken}`, `${clients}${more}`, Date.now()), `${more}${clients}`)
  const own = {
    clientAuthorities: undefined,
    proxy: {
      authorities: new Authorities(proxies),
      allowedNames: ['a'],
      usernameHeaders: ['U'],
      groupHeaders: [],
      extraHeaderPrefixes: []
    }
  }
  t.match(published(
    own,
    {
      other: 'kept',
      'requestheader-allowed-names': '["b","a"]',
      'requestheader-username-headers': 'nonsense',
      'client-ca-file': more
    },
    Date.now()
  ), {
    other: 'kept', 'requestheader-allowed-names': '["b","a"]', 'requestheader-username-headers': '["U"]',
    'client-ca-file': more, 'requestheader-group-headers': '[]'
  })
  t.match(
    published({ ...own, proxy: { ...own.proxy, uidHeaders: ['I'] } }, {}, Date.now()),
    { 'requestheader-uid-headers': '["I"]' }
  )
})
