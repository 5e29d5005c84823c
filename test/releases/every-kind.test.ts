/**
 * Each kind that release 1.36 serves, as kubectl and controllers write it: strictly, again as it was read, and applied.
 * The tables of the conformance tests ask the kinds of 1.24 of a server of that release alone.
 */
import t from 'tap'
import { representations } from '../../schemas/resources.js'
import { build, PROTOBUF, TABLE, type Answer, type Json } from '../build.js'
import { creation, title, urlOf } from '../conformance/collections.js'

/** What is said besides that a version is deprecated. */
const warned = ({ headers: { warning } }: Answer): string[] =>
  [(warning ?? []) as string | string[]].flat().filter(text => !/ is deprecated in v/.test(text))
const STRICT = 'fieldValidation=Strict'
/** The server writes a status soon after they are created. */
const FOLLOWED = ['apiservices', 'customresourcedefinitions', 'validatingadmissionpolicies']
/** Their samples are of versions that this release does not serve. */
const EARLIER = ['flowschemas', 'prioritylevelconfigurations']

t.test('each kind of 1.36 is written without a warning, and nothing is written that was there', async t => {
  const server = await build(
    t,
    {
      emulatedVersion: '1.36', api: { disabled: [] },
      admission: { disabled: ['StorageObjectInUseProtection', 'ResourceQuota'] },
      featureGates: { StorageVersionMigrator: true, DRADeviceTaintRules: true }
    }
  )
  let count = 0
  for (const one of representations.filter(({ type, plural }) => !type.virtual && !EARLIER.includes(plural))) {
    const { url, body } = creation(one, one.type.representations.indexOf(one))
    if ((await server.get(urlOf(one))).code !== 200 || (await server.get(url)).code !== 200) continue
    const at = `${urlOf(one)}/${String(body['metadata'].name)}`
    const ok = (answer: Answer, code: number, how: string): Answer => {
      t.same(
        [answer.code, warned(answer)], [code, []], `${title(one)} ${how} ${answer.code === code ? '' : answer.body}`
      )
      return answer
    }
    ok(await server.post(`${url}?${STRICT}`, body), 201, 'created')
    const { json } = ok(await server.get(at), 200, 'read')
    const isSame = (answer: Answer, how: string): void => {
      t.equal(
        ok(answer, 200, how).json['metadata'].resourceVersion, json['metadata'].resourceVersion, `${title(one)} ${how}`
      )
    }
    const follows = FOLLOWED.includes(one.plural)
    if (!follows) isSame(await server.put(`${at}?${STRICT}`, json), 'written again')
    const binary = await server.get(at, { accept: PROTOBUF })
    if (binary.code === 200 && !follows) {
      isSame(
        await server.put(at, binary.raw, { 'content-type': PROTOBUF }), 'written again in binary form'
      )
    }
    const { columnDefinitions, rows } = ok(await server.get(at, { accept: TABLE }), 200, 'as a table').json
    t.equal(rows[0].cells.length, columnDefinitions.length, `${title(one)} has a cell for each column`)
    const { managedFields, resourceVersion, uid, creationTimestamp, generation, ...metadata } = json['metadata'] as Json
    ok(
      await server.patch(
        `${at}?force=true&fieldManager=f&${STRICT}`, { ...json, metadata }, 'application/apply-patch+yaml'
      ),
      200, 'applied'
    )
    count++
  }
  t.ok(count > 70, `${count}`)
})
