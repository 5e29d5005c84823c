/** Rules of the shapes that definitions of public projects have: whether they are accepted, and what they refuse. */
import t from 'tap'
import { Fault } from '../../../expressions/values.js'
import { validateRules } from '../../../schemas/api/apiextensions/rules/expressions.js'
import { validateSchema } from '../../../schemas/api/apiextensions/rules/schemas.js'
import type { Ratchets } from '../../../schemas/api/apiextensions/rules/ratchets.js'
import type { JSONSchemaProps as Schema, ValidationRule } from '../../../schemas/api/apiextensions/schemas.js'
import { compileRules } from '../../../schemas/custom/ruled.js'
import { validateRules as evaluate } from '../../../schemas/custom/validations.js'
import type { FieldError } from '../../../schemas/status.js'
import { finish } from '../../../schemas/steps.js'

const string = (more: Schema = {}): Schema => ({ type: 'string', ...more })
const integer = (more: Schema = {}): Schema => ({ type: 'integer', ...more })
const list = (items: Schema, more: Schema = {}): Schema => ({ type: 'array', items, ...more })
const object = (properties: Record<string, Schema>, more: Schema = {}): Schema => ({
  type: 'object', properties, ...more
})
const rules = (...all: Array<string | ValidationRule>): Schema => ({
  'x-orch-validations': all.map(one => typeof one === 'string' ? { rule: one } : one)
})
const root = (spec: Schema): Schema => object({ spec })
const keyed = (...keys: string[]): Schema => ({ 'x-orch-list-type': 'map', 'x-orch-list-map-keys': keys })

function refusals (schema: Schema): FieldError[] {
  const found: FieldError[] = []
  const report = (error: FieldError): void => { found.push(error) }
  validateSchema(schema, 'schema', { knownTypes: true, atomicSets: true, keysPresent: true } as Ratchets, report)
  finish(validateRules(schema, 'schema', report, { isKept: false, wrong: [] }))
  return found
}

function broken (schema: Schema, spec: unknown, old?: unknown): string[] {
  const found: string[] = []
  const ruled = finish(compileRules(schema, true))
  if (ruled === undefined) throw new Fault('no rules')
  finish(evaluate(
    ruled, { spec } as object, old === undefined ? undefined : { spec: old } as object,
    { report: ({ field, detail }) => { found.push(`${field}: ${detail}`) }, forgive: () => undefined, ratchets: true }
  ))
  return found
}

t.test('listeners of a gateway', async t => {
  const schema = root(object({
    listeners: list(object(
      {
        name: string({ maxLength: 253 }),
        port: integer({ minimum: 1 }),
        protocol: string({ maxLength: 255 }),
        hostname: string({ maxLength: 253 }),
        tls: object(
          {
            mode: string({ enum: ['Terminate', 'Passthrough'] }),
            certificateRefs: list(object({ name: string({ maxLength: 253 }) }), { maxItems: 64 }),
            options: { type: 'object', maxProperties: 16, additionalProperties: string({ maxLength: 4096 }) }
          },
          rules('self.mode == "Terminate" ? size(self.certificateRefs) > 0 || size(self.options) > 0 : true')
        )
      },
      { required: ['name', 'port', 'protocol'] }
    ), {
      maxItems: 64, minItems: 1, ...keyed('name'), ...rules(
        { message: 'no tls for HTTP', rule: "self.all(l, l.protocol in ['HTTP', 'TCP', 'UDP'] ? !has(l.tls) : true)" },
        {
          message: 'mode',
          rule:
            "self.all(l, (l.protocol == 'HTTPS' && has(l.tls)) ? " +
            "(l.tls.mode == '' || l.tls.mode == 'Terminate') : true)"
        },
        { message: 'names are unique', rule: 'self.all(l1, self.exists_one(l2, l1.name == l2.name))' },
        {
          message: 'ports',
          rule:
            'self.all(l1, self.exists_one(l2, l1.port == l2.port && l1.protocol == l2.protocol && (has(l1.hostname) ' +
            '&& has(l2.hostname) ? l1.hostname == l2.hostname : !has(l1.hostname) && !has(l2.hostname))))'
        })
    }),
    addresses: list(
      object(
        { type: string({ maxLength: 253 }), value: string({ maxLength: 253 }) },
        rules(
          "self.type == 'Hostname' ? (!has(self.value) || " +
          'self.value.matches(r"""^(\\*\\.)?[a-z0-9]([-a-z0-9]*[a-z0-9])?(\\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*$""")) ' +
          ': true'
        )
      ),
      {
        maxItems: 16,
        ...rules(
          "self.all(a1, a1.type == 'IPAddress' && has(a1.value) ? self.exists_one(a2, a2.type == a1.type && " +
          'has(a2.value) && a2.value == a1.value) : true)'
        )
      }
    )
  }))
  t.same(refusals(schema), [])
  const listener = { name: 'a', port: 80, protocol: 'HTTP' }
  t.same(broken(schema, { listeners: [listener] }), [])
  t.same(broken(schema, { listeners: [{ ...listener, tls: { mode: 'Passthrough' } }] }), [
    'spec.listeners: no tls for HTTP'
  ])
  t.same(broken(schema, { listeners: [listener, { ...listener, name: 'b' }] }), ['spec.listeners: ports'])
  t.match(broken(schema, { listeners: [listener], addresses: [{ type: 'Hostname', value: '-' }] }), [
    /^spec\.addresses\[0\]: failed rule/
  ])
})

t.test('matches of a route', async t => {
  const path = object({ type: string({ enum: ['Exact', 'PathPrefix'] }), value: string({ maxLength: 1024 }) }, rules(
    {
      message: "must start with '/'", rule: "(self.type in ['Exact','PathPrefix']) ? self.value.startsWith('/') : true"
    },
    { message: 'no //', rule: "(self.type in ['Exact','PathPrefix']) ? !self.value.contains('//') : true" },
    {
      message: 'characters',
      rule:
        "(self.type in ['Exact','PathPrefix']) ? " +
        "self.value.matches(r\"\"\"^(?:[-A-Za-z0-9/._~!$&'()*+,;=:@]|[%][0-9a-fA-F]{2})+$\"\"\") : true"
    }))
  const backends = list(
    object(
      {
        name: string({ maxLength: 253 }),
        port: integer(),
        group: string({ maxLength: 253 }),
        kind: string({ maxLength: 63 })
      },
      rules("(size(self.group) == 0 && self.kind == 'Service') ? has(self.port) : true")
    ),
    { maxItems: 16 }
  )
  const schema = root(object({
    rules: list(
      object({
        matches: list(object({ path }), { maxItems: 64 }),
        backendRefs: backends,
        filters: list(object({ type: string({ maxLength: 63 }) }), {
          maxItems: 16,
          ...rules(
            "!(self.exists(f, f.type == 'RequestRedirect') && self.exists(f, f.type == 'URLRewrite'))",
            "self.filter(f, f.type == 'RequestRedirect').size() <= 1"
          )
        })
      }),
      {
        maxItems: 16,
        ...rules({
          message: 'too many matches',
          rule:
            '(self.size() > 0 ? (has(self[0].matches) ? self[0].matches.size() : 0) : 0) + (self.size() > 1 ? ' +
            '(has(self[1].matches) ? self[1].matches.size() : 0) : 0) <= 128'
        })
      }
    )
  }))
  t.same(refusals(schema), [])
  t.same(broken(schema, { rules: [{ matches: [{ path: { type: 'Exact', value: '/a' } }] }] }), [])
  t.same(broken(schema, { rules: [{ matches: [{ path: { type: 'Exact', value: 'a//%' } }] }] }), [
    "spec.rules[0].matches[0].path: must start with '/'", 'spec.rules[0].matches[0].path: no //',
    'spec.rules[0].matches[0].path: characters'
  ])
  t.same(broken(schema, { rules: [{ filters: [{ type: 'RequestRedirect' }, { type: 'RequestRedirect' }] }] }).length, 1)
})

t.test('certificates and issuers', async t => {
  const schema = root(object({
    type: string({ maxLength: 20 }),
    dnsNames: list(string({ maxLength: 253 }), { maxItems: 100 }),
    duration: string({ format: 'duration' }),
    renewBefore: string({ format: 'duration' }),
    secret: string({ maxLength: 253, ...rules({ rule: 'self == oldSelf', message: 'may not change' }) })
  }, rules(
    {
      rule: '!has(self.renewBefore) || !has(self.duration) || self.renewBefore < self.duration',
      messageExpression: '"%s is not before %s".format([self.renewBefore, self.duration])'
    },
    {
      rule:
        "!has(self.dnsNames) || self.dnsNames.all(n, !format.dns1123Subdomain().validate(n.startsWith('*.') ? " +
        'n.substring(2) : n).hasValue())',
      fieldPath: '.dnsNames',
      reason: 'FieldValueInvalid',
      message: 'no DNS name'
    },
    { rule: '!has(oldSelf.type) || has(self.type)', message: 'type is required once it is set' })))
  t.same(refusals(schema), [])
  t.same(broken(schema, { duration: '1h', renewBefore: '2h' }), ['spec: 7200s is not before 3600s'])
  t.same(broken(schema, { dnsNames: ['a.b', '*.c'] }), [])
  t.same(broken(schema, { dnsNames: ['A'] }), ['spec.dnsNames: no DNS name'])
  t.same(
    broken(schema, { secret: 'b' }, { secret: 'a', type: 'x' }),
    ['spec: type is required once it is set', 'spec.secret: may not change']
  )
})

t.test('queues', async t => {
  const quota = {
    'x-orch-int-or-string': true,
    maxLength: 64,
    ...rules('type(self) == string ? isQuantity(self) && sign(quantity(self)) >= 0 : self >= 0')
  } as Schema
  const flavors = list(
    object(
      {
        name: string({ maxLength: 253 }),
        resources: list(
          object(
            { name: string({ maxLength: 253 }), nominalQuota: quota, borrowingLimit: { 'x-orch-int-or-string': true } },
            { required: ['name'] }
          ),
          { maxItems: 16, ...keyed('name') }
        )
      },
      { required: ['name'] }
    ),
    { maxItems: 16, ...keyed('name') }
  )
  const schema = root(object(
    {
      cohort: string({ maxLength: 253 }),
      resourceGroups: list(
        object({ coveredResources: list(string({ maxLength: 253 }), { maxItems: 16 }), flavors }, rules({
          rule: 'self.flavors.all(x, size(x.resources) == size(self.coveredResources))',
          message: 'as many resources as are covered'
        })),
        { maxItems: 16 }
      )
    },
    rules({
      rule:
        '!has(self.cohort) && has(self.resourceGroups) ? self.resourceGroups.all(rg, rg.flavors.all(f, ' +
        'f.resources.all(r, !has(r.borrowingLimit)))) : true',
      message: 'no limit without a cohort'
    })
  ))
  t.same(refusals(schema), [])
  const group = (more: object = {}, covered = ['cpu']) => ({
    resourceGroups: [
      { coveredResources: covered, flavors: [{ name: 'f', resources: [{ name: 'cpu', nominalQuota: '1', ...more }] }] }
    ]
  })
  t.same(broken(schema, group()), [])
  t.same(broken(schema, group({ borrowingLimit: 1 })), ['spec: no limit without a cohort'])
  t.same(broken(schema, group({}, ['cpu', 'memory'])), ['spec.resourceGroups[0]: as many resources as are covered'])
  t.match(broken(schema, group({ nominalQuota: '-1' })), [/nominalQuota: failed rule/])
})

t.test('node pools', async t => {
  const requirement = object(
    {
      key: string({
        maxLength: 316,
        ...rules({
          message: 'restricted',
          rule:
            'self in ["orch.io/arch", "orch.io/os"] || self.find("^([^/]+)").endsWith("node.orch.io") || ' +
            '!self.find("^([^/]+)").endsWith("orch.io")'
        })
      }),
      operator: string({ enum: ['In', 'NotIn', 'Exists', 'DoesNotExist', 'Gt', 'Lt'] }),
      values: list(string({ maxLength: 63 }), { maxItems: 50 }),
      minValues: integer({ minimum: 1, maximum: 50 })
    },
    { required: ['key', 'operator'] }
  )
  const schema = root(object({
    requirements: list(requirement, {
      maxItems: 100,
      ...rules(
        { message: 'In needs values', rule: "self.all(x, x.operator == 'In' ? x.values.size() != 0 : true)" },
        {
          message: 'one integer',
          rule:
            "self.all(x, (x.operator == 'Gt' || x.operator == 'Lt') ? " +
            '(x.values.size() == 1 && int(x.values[0]) >= 0) : true)'
        },
        {
          message: 'enough values',
          rule: "self.all(x, (x.operator == 'In' && has(x.minValues)) ? x.values.size() >= x.minValues : true)"
        }
      )
    }),
    budgets: list(
      object({
        nodes: string({ maxLength: 10, pattern: '^((100|[0-9]{1,2})%|[0-9]+)$' }),
        schedule: string({ maxLength: 100 }),
        duration: string({ maxLength: 30 })
      }),
      {
        maxItems: 50,
        ...rules({ message: 'schedule with duration', rule: 'self.all(x, has(x.schedule) == has(x.duration))' })
      }
    ),
    weight: integer(),
    template: object(
      { name: string({ maxLength: 253 }), group: string({ maxLength: 253 }) },
      rules({ rule: 'self.group == oldSelf.group', message: 'immutable' })
    ),
    labels: {
      type: 'object',
      maxProperties: 100,
      additionalProperties: string({ maxLength: 63 }),
      ...rules('self.all(x, x in ["a"] || !x.contains("/"))')
    },
    tags: {
      type: 'object',
      maxProperties: 20,
      additionalProperties: string({ maxLength: 100 }),
      ...rules("self.all(k, k != '' && !k.startsWith('own/'))")
    }
  }))
  t.same(refusals(schema), [])
  t.same(
    broken(schema, {
      requirements: [{ key: 'orch.io/arch', operator: 'In', values: ['x'] }], labels: { a: 'b' }, tags: { k: 'v' }
    }),
    []
  )
  t.same(broken(schema, { requirements: [{ key: 'a.orch.io/b', operator: 'Gt', values: ['x'] }] }).length, 2)
  t.same(broken(schema, { budgets: [{ schedule: '@daily' }] }), ['spec.budgets: schedule with duration'])
  t.same(
    broken(schema, { template: { name: 'a', group: 'b' } }, { template: { name: 'a', group: 'a' } }),
    ['spec.template: immutable']
  )
  t.same(broken(schema, { tags: { 'own/x': '1' } }).length, 1)
})

t.test('what has no bounds is refused for its cost', async t => {
  t.match(refusals(root(object({ a: list(string({ ...rules('self.matches("^[a-z]+$")') })) }))), [
    { type: 'FieldValueForbidden' }, {}, {}
  ])
  t.match(
    refusals(root(object({ a: list(object({ b: list(string()) }, rules('self.b.all(x, x.startsWith("a"))'))) }))),
    [{ detail: /more than 100x/ }, {}, {}]
  )
  t.same(
    refusals(root(object({
      a: list(string({ maxLength: 63, ...rules('self.matches("^[a-z]+$")') }), { maxItems: 100 })
    }))),
    []
  )
})

/** Schema of the spec, its rule, a spec that keeps it and one that does not, and the old spec of transitions. */
const KINDS: ReadonlyArray<readonly [schema: Schema, rule: string, right: unknown, wrong: unknown, old?: unknown]> = [
  [
    object({ duration: string({ maxLength: 20 }), renewBefore: string({ maxLength: 20 }) }),
    'duration(self.renewBefore) < duration(self.duration)', { duration: '2h', renewBefore: '1h' },
    { duration: '1h', renewBefore: '1h' }
  ],
  [
    object({ schedule: string() }), "self.schedule.startsWith('@') || self.schedule.split(' ').size() == 5",
    { schedule: '* * * * *' }, { schedule: '* *' }
  ],
  [
    object({ a: string(), b: string() }), '[has(self.a), has(self.b)].filter(x, x == true).size() == 1', { a: 'x' },
    { a: 'x', b: 'y' }
  ],
  [
    object({ a: string(), b: string() }), '(has(self.a) ? 1 : 0) + (has(self.b) ? 1 : 0) <= 1', { b: 'x' },
    { a: 'x', b: 'y' }
  ],
  [
    object({ cpu: { 'x-orch-int-or-string': true } as Schema }),
    "type(self.cpu) == int ? self.cpu > 0 : quantity(self.cpu).isGreaterThan(quantity('0'))", { cpu: '500m' },
    { cpu: 0 }
  ],
  [
    object({ memory: string({ maxLength: 30 }) }),
    "isQuantity(self.memory) && quantity(self.memory).compareTo(quantity('1Gi')) >= 0", { memory: '2Gi' },
    { memory: '1Mi' }
  ],
  [
    object({ url: string() }), "isURL(self.url) && url(self.url).getScheme() in ['http', 'https']",
    { url: 'https://a/b' }, { url: 'ftp://a' }
  ],
  [
    object({ cidrs: list(string({ maxLength: 43 }), { maxItems: 20 }) }), 'self.cidrs.all(c, isCIDR(c))',
    { cidrs: ['10.0.0.0/8'] }, { cidrs: ['10.0.0.0'] }
  ],
  [
    object({ cidrs: list(string({ maxLength: 43 }), { maxItems: 8 }) }),
    'self.cidrs.all(a, self.cidrs.exists_one(b, cidr(a).containsCIDR(b)))', { cidrs: ['10.0.0.0/8', '11.0.0.0/8'] },
    { cidrs: ['10.0.0.0/8', '10.1.0.0/16'] }
  ],
  [
    object({ ip: string({ maxLength: 45 }) }), 'isIP(self.ip) && ip(self.ip).family() == 6 && ip.isCanonical(self.ip)',
    { ip: '2001:db8::1' }, { ip: '10.0.0.1' }
  ],
  [
    object({ version: string({ maxLength: 40 }) }),
    "isSemver(self.version, true) && !semver(self.version, true).isLessThan(semver('1.20.0'))", { version: 'v1.30' },
    { version: 'v1.19.2' }
  ],
  [
    object({ name: string({ maxLength: 63 }) }), '!format.dns1123Label().validate(self.name).hasValue()',
    { name: 'a-b' }, { name: 'A' }
  ],
  [
    object({ labels: { type: 'object', maxProperties: 100, additionalProperties: string({ maxLength: 63 }) } }),
    "self.labels.all(k, !k.startsWith('karpenter.sh/') && !k.contains('orch.io/'))", { labels: { a: 'b' } },
    { labels: { 'karpenter.sh/x': 'y' } }
  ],
  [
    object({ labels: { type: 'object', maxProperties: 20, additionalProperties: string({ maxLength: 63 }) } }),
    "self.labels.all(k, v, v.matches('^[a-z]*$') && size(k) < 64)", { labels: { a: 'b' } }, { labels: { a: 'B' } }
  ],
  [
    object({ consolidateAfter: string({ maxLength: 20 }), policy: string({ enum: ['Empty', 'Used'] }) }),
    "self.policy != 'Used' || !has(self.consolidateAfter) || self.consolidateAfter == 'Never'",
    { policy: 'Empty', consolidateAfter: '1m' }, { policy: 'Used', consolidateAfter: '1m' }
  ],
  [
    object({
      requirements: list(
        object({
          key: string({ maxLength: 316 }),
          operator: string({ enum: ['In', 'Exists', 'Gt'] }),
          values: list(string({ maxLength: 63 }), { maxItems: 50 })
        }),
        { maxItems: 100 }
      )
    }),
    "self.requirements.all(x, x.operator == 'In' ? x.values.size() != 0 : true)",
    { requirements: [{ key: 'a', operator: 'In', values: ['x'] }] },
    { requirements: [{ key: 'a', operator: 'In', values: [] }] }
  ],
  [
    object({ min: integer(), max: integer() }), '!has(self.min) || !has(self.max) || self.min <= self.max',
    { min: 1, max: 1 }, { min: 2, max: 1 }
  ],
  [
    object({ replicas: integer(), paused: { type: 'boolean' } }),
    'self.paused ? self.replicas == 0 : self.replicas > 0', { paused: true, replicas: 0 },
    { paused: false, replicas: 0 }
  ],
  [
    object({ names: list(string({ maxLength: 63 }), { maxItems: 32 }) }),
    'self.names.all(x, self.names.filter(y, y == x).size() == 1)', { names: ['a', 'b'] }, { names: ['a', 'a'] }
  ],
  [
    object({
      flavors: list(
        object({ name: string({ maxLength: 63 }), quota: integer() }, { required: ['name'] }),
        { maxItems: 16, ...keyed('name') }
      ),
      total: integer()
    }),
    'self.flavors.map(f, f.quota).sum() <= self.total',
    { flavors: [{ name: 'a', quota: 1 }], total: 1 },
    { flavors: [{ name: 'a', quota: 2 }], total: 1 }
  ],
  [
    object({ data: { type: 'string', format: 'byte', maxLength: 100 } }), 'self.data.size() == 3', { data: 'YWJj' },
    { data: 'YWI=' }
  ],
  [
    object({ start: string({ format: 'date-time' }), end: string({ format: 'date-time' }) }),
    "self.end - self.start <= duration('1h')", { start: '2026-01-01T00:00:00Z', end: '2026-01-01T01:00:00Z' },
    { start: '2026-01-01T00:00:00Z', end: '2026-01-01T02:00:00Z' }
  ],
  [
    object({ text: string({ maxLength: 200 }) }),
    "self.text.lowerAscii() == self.text && self.text.trim() == self.text && !self.text.contains('..')",
    { text: 'abc' }, { text: 'Abc' }
  ],
  [
    object({
      a: list(string({ maxLength: 20 }), { maxItems: 20 }), b: list(string({ maxLength: 20 }), { maxItems: 20 })
    }),
    '!sets.intersects(self.a, self.b)',
    { a: ['x'], b: ['y'] },
    { a: ['x'], b: ['x'] }
  ],
  [
    object({ kind: string({ enum: ['A', 'B'] }) }), 'self.kind == oldSelf.kind', { kind: 'A' }, { kind: 'B' },
    { kind: 'A' }
  ],
  [
    object({ size: string({ maxLength: 20 }) }), '!quantity(self.size).isLessThan(quantity(oldSelf.size))',
    { size: '2Gi' }, { size: '1Mi' }, { size: '1Gi' }
  ],
  [
    object({ ref: string() }), '!has(oldSelf.ref) || has(self.ref) && self.ref == oldSelf.ref', { ref: 'a' }, {},
    { ref: 'a' }
  ],
  [
    object({ mode: string(), tls: object({ cert: string() }) }),
    "self.?tls.?cert.orValue('') != '' || self.mode == 'plain'", { mode: 'plain' }, { mode: 'tls', tls: {} }
  ],
  [
    object({ weights: list(integer({ minimum: 0 }), { maxItems: 16 }) }),
    'self.weights.sum() == 100 && self.weights.max() > 0', { weights: [40, 60] }, { weights: [40] }
  ],
  [
    object({
      steps: list(
        object(
          { name: string({ maxLength: 30 }), needs: list(string({ maxLength: 30 }), { maxItems: 5 }) },
          { required: ['name'] }
        ),
        { maxItems: 10, ...keyed('name') }
      )
    }),
    'self.steps.all(s, !has(s.needs) || s.needs.all(n, self.steps.exists(o, o.name == n)))',
    { steps: [{ name: 'a' }, { name: 'b', needs: ['a'] }] },
    { steps: [{ name: 'b', needs: ['a'] }] }
  ]
]

for (const [schema, rule, right, wrong, old] of KINDS) {
  t.test(`accepted, and judged right: ${rule}`, async t => {
    const own = root({ ...schema, ...rules(rule) })
    t.same(refusals(own), [])
    t.same(broken(own, right, old), [])
    t.equal(broken(own, wrong, old).length, 1, JSON.stringify(broken(own, wrong, old)))
  })
}
