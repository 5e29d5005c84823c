/** Almost valid tokens, from a printed seed: none authenticates anybody, and each one is simply refused. */
import t from 'tap'
import { serviceAccounts } from '../../plugins/authentication/service-account/index.js'
import type { Json } from '../build.js'
import { defaultAccount, keys, signed } from '../plugins/authentication/tokens.js'
import { random } from '../random.js'
import { registry } from '../controllers/namespace-race.js'

const TIMES = 3000
const ISSUER = 'https://orch.default.svc.cluster.local'
const CHARACTERS = 'ABCdef012-_.=+/ \u0000é'

t.test('no token is good that differs from a good one in what is signed, ' +
  'nor one that is signed and says less', async t => {
  const { seed, int } = random()
  t.comment(`SEED=${seed}`)
  const resources = await registry(t, {})
  const account = await defaultAccount(resources)
  const own = keys()
  const { authenticator } = await serviceAccounts({
    audiences: undefined,
    log: () => {},
    signingKey: own.pem,
    resources,
    metrics: { counter: () => ({ with: () => ({ add: () => {} }) }) }
  })
  const now = Math.floor(Date.now() / 1000)
  const claims: Json = {
    iss: ISSUER,
    aud: [ISSUER],
    sub: 'system:serviceaccount:default:default',
    exp: now + 3600,
    nbf: now,
    'orch.io': { namespace: 'default', serviceaccount: { name: 'default', uid: account.object.metadata.uid } }
  }
  const good = signed(own, claims)
  const who = async (token: string): Promise<unknown> => {
    try {
      return await authenticator.identify(token)
    } catch (error) {
      if (error instanceof TypeError || error instanceof RangeError) throw error // a defect, not a refusal
      return undefined
    }
  }
  t.ok(await who(good))

  const signedPart = good.lastIndexOf('.')
  const changed = (): string => {
    const at = int(signedPart)
    const character = CHARACTERS[int(CHARACTERS.length)] ?? ''
    const cut = int(3)
    return cut === 0
      ? good.slice(0, at) + good.slice(at + 1)
      : cut === 1 ? good.slice(0, at) + character + good.slice(at) : good.slice(0, at) + character + good.slice(at + 1)
  }
  const values: unknown[] = [
    undefined, null, true, 0, -1, '', 'x', [], {}, [null], { name: 'default' }, '__proto__', 1e308
  ]
  const paths = [
    ['iss'], ['aud'], ['sub'], ['exp'], ['orch.io'], ['orch.io', 'namespace'], ['orch.io', 'serviceaccount'],
    ['orch.io', 'serviceaccount', 'name'], ['orch.io', 'serviceaccount', 'uid']
  ]
  const lacking = (): string | undefined => {
    const copy = structuredClone(claims)
    const path = paths[int(paths.length)] ?? []
    const value = values[int(values.length)]
    if (path[0] === 'exp' && typeof value === 'number' && value > now) return undefined // a time in the future
    const last = path.at(-1) ?? ''
    path.slice(0, -1).reduce<Json>((object, member) => object[member] as Json, copy)[last] = value
    return signed(own, copy)
  }
  const accepted: string[] = []
  for (let time = 0; time < TIMES; time++) {
    const token = int(2) === 0 ? changed() : lacking()
    if (token !== undefined && token !== good && await who(token) !== undefined) accepted.push(token)
  }
  t.same(accepted, [])
  t.ok(await who(good), 'the good one is good still')
})
