/** Every declaration compared to the facts about the API types in `test/facts/`. */
import { readdirSync, readFileSync } from 'node:fs'
import { resolve } from 'node:path'
import t, { type Test as TestBase } from 'tap'
import { Facts, type Declaration, type Field, type Message } from '../../schemas/language/types.js'
import * as meta from '../../schemas/meta/v1.js'
import * as intOrString from '../../schemas/meta/int-or-string.js'
import * as quantity from '../../schemas/meta/quantity.js'
import * as version from '../../schemas/meta/version.js'
import * as runtime from '../../schemas/meta/runtime.js'
import { DEFAULT_GATES, featureGates } from '../../schemas/gates.js'
import { structTypeOf, structTypeOfField } from '../../schemas/language/struct-types.js'
import { isServed } from '../../schemas/resource.js'
import { representations } from '../../schemas/resources.js'
import { tabularOf } from '../../schemas/table.js'

const root = resolve(import.meta.dirname, '../../..')
const FACTS = resolve(root, 'test/facts')
const SOURCES = resolve(root, 'schemas/api')
const API = resolve(root, 'dist/schemas/api')

interface FactField {
  name: string, type: string, repeated: boolean, proto: number | null
  required?: boolean, markedRequired?: boolean, omitempty?: boolean, pointer?: boolean, inline?: boolean
  enum?: string[], enumClosed?: boolean, immutable?: boolean
  default?: unknown, defaultWhen?: string, defaultGate?: string, defaultFrom?: string, listType?: string,
  listMapKeys?: string[], mapType?: string, structType?: string
  patchStrategy?: string, patchMergeKey?: string, unionDiscriminator?: boolean, gate?: string, introduced?: string
}
interface FactMessage {
  kind?: string, list?: boolean, introduced?: string, structType?: string, special?: string, protobuf?: boolean,
  fields: FactField[]
}
interface FactFile {
  openapiPrefix: string, group: string | null, version: string | null, messages: Record<string, FactMessage>
}

const declared = new Map<string, Declaration>()
const modules: unknown[] = [meta, runtime, quantity, intOrString, version]
/** Types of configuration files, which are not served. */
const CONFIGURATION = 'apiserver/'
// From the sources, because the build folder may contain files that have since moved.
for (const file of readdirSync(SOURCES, { recursive: true, encoding: 'utf8' })) {
  if (file.endsWith('.ts') &&
  !file.startsWith(CONFIGURATION)) modules.push(await import(resolve(API, file.replace(/ts$/, 'js'))))
}
for (const module of modules) {
  for (const value of Object.values(module as object) as unknown[]) {
    if (typeof value !== 'object' || value === null || !(Facts in value)) continue
    const facts = value[Facts] as Declaration | object // or of a field
    if ('openapiName' in facts) declared.set(facts.name, facts)
  }
}

/** The name that the interface's release has. */
const formerName = ({ name, formerly }: Declaration): string =>
  formerly === undefined ? name : formerly.message[Facts].name

/** A declared field in the form of the facts. */
function asFact (name: string, { [Facts]: field }: Field): FactField {
  const structType = structTypeOfField(field, DEFAULT_GATES)
  const element = typeof field.of === 'string'
    ? field.of
    : formerName(
        (typeof field.of === 'function' ? field.of() : field.of as Message)[Facts]
      ).replace('meta.v1.Anything', 'any')
  return {
    name,
    type: field.shape === 'map' ? `map<string,${element}>` : element,
    repeated: field.shape === 'list',
    proto: field.number,
    ...(field.required === true
      ? { required: true }
      : { required: false, ...(field.written === true || field.shape === 'inline' ? {} : { omitempty: true }) }),
    ...(field.pointer === true ? { pointer: true } : {}),
    ...(field.shape === 'inline' ? { inline: true } : {}),
    ...(field.values === undefined ? {} : { enum: [...field.values] }),
    ...(field.closed === undefined ? {} : { enumClosed: true }),
    ...(field.immutable === undefined ? {} : { immutable: true }),
    ...(field.default === undefined ? {} : { default: field.default }),
    ...(field.listType === undefined ? {} : { listType: field.listType }),
    ...(field.listMapKeys === undefined ? {} : { listMapKeys: [...field.listMapKeys] }),
    ...(field.mapType === undefined ? {} : { mapType: field.mapType }),
    ...(structType === undefined ? {} : { structType }),
    ...(field.patchStrategy === undefined ? {} : { patchStrategy: field.patchStrategy }),
    ...(field.patchMergeKey === undefined ? {} : { patchMergeKey: field.patchMergeKey }),
    ...(field.discriminator === true ? { unionDiscriminator: true } : {})
  }
}

const COMPARED = new Set([
  'name', 'type', 'repeated', 'proto', 'required', 'omitempty', 'pointer', 'inline', 'enum', 'enumClosed', 'immutable',
  'default', 'listType', 'listMapKeys', 'mapType', 'structType', 'patchStrategy', 'patchMergeKey', 'unionDiscriminator'
])
const relevant = (field: FactField) => Object.fromEntries(
  Object.entries(field).filter(([key, value]) => COMPARED.has(key) && !(key === 'enumClosed' && value === false))
)

/**
 * The interface requires roleRef.apiGroup; it overrides the facts, which give the field a default. Defaults that depend
 * on other fields are computed, and tested by their effect.
 */
const DEVIATIONS: Record<string, (field: FactField) => void> = {
  'rbac.v1.RoleRef.apiGroup': field => { delete field.default },
  // It depends on the number of completions, which is set with it.
  'batch.v1.JobSpec.parallelism': field => { delete field.default },
  // Not in the job template of a cron job.
  'batch.v1.JobSpec.backoffLimit': field => { delete field.default },
  'batch.v1.JobSpec.completionMode': field => { delete field.default },
  'batch.v1.JobSpec.suspend': field => { delete field.default },
  // Not in volume attachments.
  'core.v1.PersistentVolumeSpec.persistentVolumeReclaimPolicy': field => { delete field.default },
  'core.v1.PersistentVolumeSpec.volumeMode': field => { delete field.default },
  // Not with another type.
  'apps.v1.RollingUpdateDaemonSet.maxUnavailable': field => { delete field.default },
  'apps.v1.RollingUpdateDaemonSet.maxSurge': field => { delete field.default },
  // Known to a release without it where it is stored.
  'flowcontrol.v1beta1.LimitedPriorityLevelConfiguration.lendablePercent': field => { delete field.default },
  'flowcontrol.v1beta2.LimitedPriorityLevelConfiguration.lendablePercent': field => { delete field.default },
  // Stored in the form of v1, where it has the gate.
  'resource.v1beta1.BasicDevice.nodeSelector': field => { field.gate = 'DRAPartitionableDevices' },
  // Settings come with the type that nobody named.
  'apps.v1.StatefulSetUpdateStrategy.type': field => { delete field.default }
}

/** Conditions that every default implies. */
const SIMPLE = new Set(['0', 'metrics empty', 'decoded object has no data'])

/** Fields that came to rules later are known with the gate that brings rules. */
const WITH: Readonly<Record<string, string>> =
  {
    'apiextensions.v1.ValidationRule': 'CustomResourceValidationExpressions',
    'admissionregistration.v1.MutatingWebhook': 'AdmissionWebhookMatchConditions',
    'admissionregistration.v1.ValidatingWebhook': 'AdmissionWebhookMatchConditions'
  }
/** Their gate is known to 1.24, which does not know them. */
const UNGATED: ReadonlySet<string> = new Set(['core.v1.PersistentVolumeClaimStatus.allocatedResourceStatuses'])
const withGate = (name: string, own: string, { gate }: { readonly gate?: string }): string | undefined =>
  UNGATED.has(`${name}.${own}`) ? undefined : WITH[name] ?? gate?.replace(/ or .*/, '')

/** A field of the facts without defaults that are computed. */
function simple (name: string, field: FactField): FactField {
  const copy = { ...field }
  DEVIATIONS[`${name}.${field.name}`]?.(copy)
  if ((field.defaultWhen !== undefined && !SIMPLE.has(field.defaultWhen)) || field.defaultGate !== undefined) {
    delete copy.default
  }
  return copy
}

function compare (t: TestBase, name: string, given: FactMessage): void {
  const message = declared.get(name)
  // What had another name is compared as it was then; later fields are compared below.
  const former = message === undefined ? '' : formerName(message).slice(packageOf(name).length + 1)
  const fact = message?.formerly === undefined ? given : files.get(packageOf(name))?.messages[former] ?? given
  if (!t.ok(message, `${name} is declared`) || message === undefined) return
  if (fact.special !== undefined && fact.special !== 'protobuf only') {
    t.ok(message.special ?? message.alternatives, `${name} has a form of its own`)
    t.same(Object.entries(message.fields).map(([field, { [Facts]: { number } }]) =>
      [field, number]), fact.fields.map(field => [field.name, field.proto]), `${name}: numbers`)
    return
  }
  const short = name.slice(name.lastIndexOf('.') + 1)
  // A version that is gone by then is stored with the fields of its successor.
  const { introduced, fields: since = [] } = laterFact(packageOf(name), short) ?? {}
  const known = Object.entries(message.fields).filter(([own, { [Facts]: field }]) => {
    if (field.since === undefined) return true
    const gate = since.find(one => one.name === own)
    const brought = typeof field.gate === 'string' ? field.gate : field.gate?.name
    t.same([relevant(asFact(own, { [Facts]: field } as Field)), brought, field.since], gate === undefined
      ? []
      : [
          relevant({
            ...simple(name, gate), type: gate.type.replace(/^(?:flowcontrol|discovery)\.v1\./, `${packageOf(name)}.`)
          }),
          withGate(name, own, gate), gate.introduced ?? introduced
        ], `${name}.${own}, of a later release`)
    return false
  })
  const expected = fact.fields.map(field => {
    const copy = simple(name, field)
    if (fact.special === 'protobuf only') copy.omitempty = true
    if (copy.markedRequired === true && copy.required === true) delete copy.omitempty // written always
    if (copy.inline === true) delete copy.omitempty // its own members have it
    return relevant(copy)
  })
  t.same(known.map(([field, value]) => relevant(asFact(field, value))), expected, `${name}: fields, in order`)
  if (!files.has(packageOf(name))) {
    // The facts of 1.24 do not have this package, so its fields carry no `since`: only their gates are compared. A
    // field with two gates is declared with the first, which depends on the second.
    t.same(known.map(([field, { [Facts]: { gate } }]) => [field, typeof gate === 'string' ? gate : gate?.name]),
      fact.fields.map(field => [field.name, simple(name, field).gate?.replace(/,.*/, '')]), `${name}: gates`)
  }
  t.equal(message.type?.kind, fact.kind, `${name}: kind`)
  t.equal(structTypeOf(message, DEFAULT_GATES), fact.structType, `${name}: struct type`)
  t.equal(message.protobuf, fact.protobuf !== false, `${name}: protobuf`)
  for (const [field, { [Facts]: { description } }] of Object.entries(message.fields)) {
    t.match(description, /\S.*\.$/, `${name}.${field} is described`)
  }
}

const read = <T>(file: string) => JSON.parse(readFileSync(resolve(FACTS, file), 'utf8')) as T
/** Of kinds and fields that came after the interface's release, each behind a gate. */
const LATER = '1.36'
/** By the prefix of their message names. */
const files = new Map(readdirSync(FACTS)
  .filter(file => file.endsWith('.json'))
  .map(file => [file, read<Partial<FactFile> & { package?: string }>(file)] as const)
  .flatMap(([, facts]) =>
    facts.messages === undefined || facts.package === undefined ? [] : [[facts.package, facts as FactFile] as const]))
const later = new Map(readdirSync(resolve(FACTS, LATER))
  .map(file => read<Partial<FactFile> & { package?: string }>(`${LATER}/${file}`))
  .flatMap(facts => facts.package === undefined ? [] : [[facts.package, facts as FactFile] as const]))
const laterFact = (of: string, message: string): FactMessage | undefined =>
  later.get(of)?.messages[message] ?? later.get(of.replace(/v1beta[12]$/, 'v1'))?.messages[message]
const packageOf = (name: string): string => name.slice(0, name.lastIndexOf('.'))

const FACT_RESOURCES = read<{ resources: FactResource[] }>('resources.json').resources
const LATER_RESOURCES = read<{ resources: FactResource[] }>(`${LATER}/resources.json`).resources
type Named = Pick<FactResource, 'group' | 'version' | 'resource'>
const nameOf = ({ group, version, resource }: Named): string => `${group}/${version} ${resource}`
const factNames = new Set([...FACT_RESOURCES, ...LATER_RESOURCES].map(nameOf))
/** Those that the facts do not have are somebody's own, and compared with nothing. */
const resources = representations.filter(({ group, version, plural: resource }) =>
  factNames.has(nameOf({ group, version, resource })))

t.test('declarations agree with the facts', async t => {
  for (const [name, message] of declared) {
    if (name === 'meta.v1.Anything') continue // any JSON, which the facts have no message for
    const facts = files.get(packageOf(name)) ?? later.get(packageOf(name))
    const own = name.slice(name.lastIndexOf('.') + 1)
    const fact = facts?.messages[own] ?? laterFact(packageOf(name), own)
    if (facts === undefined || fact === undefined) continue // somebody's own
    compare(t, name, fact)
    t.equal(message.openapiName, `${facts.openapiPrefix}.${own}`)
  }
})

/** Messages of 1.36 that no field has here. */
const LEFT_OUT: ReadonlySet<string> = new Set([
  // Of gates that cannot be enabled.
  'meta.v1.ShardInfo', 'resource.v1alpha3.PoolStatus', 'resource.v1alpha3.ResourcePoolStatusRequest',
  'resource.v1alpha3.ResourcePoolStatusRequestSpec', 'resource.v1alpha3.ResourcePoolStatusRequestStatus',
  // The fields of those of core, which 1.24 has.
  'networking.v1.IngressLoadBalancerIngress', 'networking.v1.IngressLoadBalancerStatus',
  'networking.v1.IngressPortStatus'
])

t.test('nothing of the facts is left out', async t => {
  const missing: string[] = []
  for (const [name, facts] of [...files, ...later]) {
    for (const [message, fact] of Object.entries(facts.messages)) {
      // Lists of resources are derived from them.
      if (!declared.has(`${name}.${message}`) && (fact.list !== true || name === 'meta.v1')) {
        missing.push(`${name}.${message}`)
      }
    }
  }
  t.strictSame(missing.filter(message => !LEFT_OUT.has(message)), [])
  const served = new Set(resources.map(({ group, version, plural: resource }) => nameOf({ group, version, resource })))
  t.strictSame([...factNames].filter(name => !served.has(name)), [], 'every resource is served')
})

t.test('lists are derived as the facts have them', async t => {
  for (const resource of resources.filter(({ verbs }) => verbs.includes('list'))) {
    const fact = (resource.gate === undefined
      ? files
      : later).get(packageOf(resource.message[Facts].name))?.messages[resource.listKind]
    t.same(
      fact?.fields.map(({ name, proto, type }) => [name, proto, type]),
      [['metadata', 1, 'meta.v1.ListMeta'], ['items', 2, resource.message[Facts].name]], resource.listKind
    )
  }
})

interface FactResource {
  group: string, version: string, resource: string, singular: string, kind: string, listKind: string, message: string,
  namespaced: boolean
  shortNames: string[], categories: string[], verbs: string[], deleteReturns: string, createOnUpdate: boolean,
  unconditionalUpdate: boolean
  /** False for operations, and for objects that are created on request. */
  persisted: boolean
  storage: { group: string, version: string, prefix: string }, storageVersionHash: string
  subresources: Array<{ name: string, verbs: string[], kind: string, kindGroup?: string, kindVersion?: string }>
}

t.test('resources agree with the facts', async t => {
  for (const definition of resources) {
    const fact = (definition.gate === undefined ? FACT_RESOURCES : LATER_RESOURCES).find((
      { group, version, resource }
    ) => group === definition.group && version === definition.version && resource === definition.plural)
    if (!t.ok(fact, definition.plural) || fact === undefined) continue
    t.equal(definition.type.virtual, !fact.persisted, `${definition.plural}: virtual`)
    if (definition.type.virtual) {
      const { message, kind, namespaced, shortNames, verbs } = definition
      t.match(fact, { message: message[Facts].name, kind, namespaced, shortNames, verbs })
      continue
    }
    const {
      message, kind, listKind, namespaced, shortNames, categories, verbs, createOnUpdate, unconditionalUpdate,
      storageVersionHash
    } = definition
    // One store for both releases: objects have the form of the earlier one.
    if (definition.group === 'flowcontrol.apiserver.orch.io' && definition.version === 'v1') {
      Object.assign(fact, { storage: { ...fact.storage, version: 'v1beta1' }, storageVersionHash })
    }
    t.same({
      message: message[Facts].name, kind, listKind, namespaced, shortNames, categories, verbs, createOnUpdate,
      unconditionalUpdate, storageVersionHash
    },
    {
      message: fact.message, kind: fact.kind, listKind: fact.listKind, namespaced: fact.namespaced,
      shortNames: fact.shortNames, categories: fact.categories, verbs: fact.verbs,
      createOnUpdate: fact.createOnUpdate, unconditionalUpdate: fact.unconditionalUpdate,
      storageVersionHash: fact.storageVersionHash
    })
    t.same([definition.type.stored.group, definition.type.stored.version, definition.type.storagePrefix], [
      fact.storage.group, fact.storage.version, fact.storage.prefix
    ])
    t.equal(definition.deleteReturns, fact.deleteReturns === 'meta.v1.Status' ? 'Status' : 'Object')
    for (const [release, facts] of [['1.24', FACT_RESOURCES], ['1.36', LATER_RESOURCES]] as const) {
      const there = facts.find(({ group, version, resource }) =>
        group === definition.group && version === definition.version && resource === definition.plural)
      const gates = featureGates({}, { release })
      if (there === undefined || (release === '1.36' && definition.deprecation?.removed !== undefined)) continue
      t.same(definition.subresources.filter(one => isServed(one, gates)).map(({ name, verbs, kind, group, version }) =>
        ({ name, verbs, kind: kind ?? definition.kind, group, version })),
      there.subresources.map(({ name, verbs, kind, kindGroup, kindVersion }) =>
        ({
          name, verbs, kind, group: kindGroup, version: kindVersion
        })), `${release} ${definition.plural}: subresources`)
    }
  }
})

t.test('columns and selectable fields agree with the facts', async t => {
  interface Tables {
    tables: Array<{
      resources: string[], table: string,
      columns: Array<{ name: string, type: string, format: string, priority: number }>
    }>
  }
  interface Selectors {
    resources: Record<string, { group?: string, versions?: string[], labels: Record<string, string> }>
  }
  const [selectors, laterSelectors] = ['', `${LATER}/`].map(folder => read<Selectors>(`${folder}field-selectors.json`))
  for (const [release, folder] of [['1.24', ''], ['1.36', `${LATER}/`]] as const) {
    const { tables } = read<Tables>(`${folder}table-columns.json`)
    const gates = featureGates({}, { release })
    for (const definition of resources) {
      const isThere = definition.gate === undefined || gates.enabled(definition.gate)
      const removed = definition.deprecation?.removed
      if (!definition.verbs.includes('list') || !isThere || (release === '1.36' && removed !== undefined)) continue
      const name = [
        definition.plural, definition.version, ...(definition.group === '' ? [] : [definition.group])
      ].join('.')
      const fact = tables.find(table => table.resources.includes(name))
      if (!t.ok(fact, `${release} ${name}`) || fact === undefined) continue
      const { columns } = tabularOf(definition, gates)
      if (fact.table === 'default') t.equal(columns, undefined, `${name} has the default table`)
      else {
        t.same(
          columns?.map(({ name, type, format, priority }) => ({ name, type, format, priority })),
          fact.columns.map(({ name, type, format, priority }) => ({ name, type, format, priority })),
          `${release} ${name}`
        )
      }
    }
  }
  for (const definition of resources) {
    if (!definition.verbs.includes('list')) continue
    const labelsOf = (of: Selectors | undefined): string[] => {
      const found =
        of?.resources[definition.group === '' ? definition.plural : `${definition.plural}.${definition.group}`] ??
        of?.resources[definition.plural]
      return found?.versions?.includes(definition.version) === true ? Object.keys(found.labels) : []
    }
    // Of a later release too: informers of today ask a server of any release for them.
    t.same(
      Object.keys(definition.selectableFields ?? {}).toSorted(),
      [...new Set([...labelsOf(selectors), ...labelsOf(laterSelectors)])].toSorted(),
      `${definition.plural}: selectable fields`
    )
  }
})
