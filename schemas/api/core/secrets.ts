/** Secret (v1): confidential data. */
import { age, count, name, text } from '../../columns.js'
import { map, string, type Report, type Static } from '../../language/declare.js'
import { byteLengthOfBase64 } from '../../language/values.js'
import { resource } from '../../resource.js'
import { checkImmutable, checkKey, immutableFlag, MAX_SIZE } from './data.js'
import { metadata } from '../../meta/object.js'
import { kind } from './package.js'
import { invalid, required, tooLong } from '../../rules/findings.js'
import { secretWarnings } from './rules/object-warnings.js'

const TYPES = [
  'Opaque', 'orch.io/service-account-token', 'orch.io/dockercfg', 'orch.io/dockerconfigjson', 'orch.io/basic-auth',
  'orch.io/ssh-auth', 'orch.io/tls', 'bootstrap.orch.io/token'
] as const
const ACCOUNT_NAME = 'orch.io/service-account.name'

export type Secret = Static<typeof Secret>
export const Secret = kind('Secret', 'Data only some may read, as bytes by key.', {
  metadata,
  immutable: immutableFlag(5),
  data: map(2, 'Bytes.', 'bytes', { keepsEmpty: true, immutable: 'ruled' }),
  stringData: map(4, 'Texts to be merged into data; for writing only, never answered.', 'string', { writeOnly: true }),
  type: string(3, 'What the data is for; can never be changed.', { values: TYPES, default: 'Opaque', immutable: true })
}, {
  defaults: secret => {
    if (secret.stringData === undefined) return
    const data: Record<string, string> = Object.assign(Object.create(null), secret.data)
    for (const [key, text] of Object.entries(secret.stringData)) data[key] = Buffer.from(text).toString('base64')
    secret.data = data
    delete secret.stringData
  },
  validate: (secret, at, report) => {
    let size = 0
    for (const [key, value] of Object.entries(secret.data ?? {})) {
      checkKey('data', key, report)
      size += byteLengthOfBase64(value)
    }
    if (size > MAX_SIZE) tooLong(report, 'data', MAX_SIZE)
    validateSecretType(secret, report)
  },
  validateUpdate: (secret, old, at, report) => checkImmutable(secret, old, ['data'], report)
})

function validateSecretType (secret: Secret, report: Report): void {
  const data = secret.data ?? {}
  const value = (key: string) => Object.hasOwn(data, key) ? data[key] : undefined
  const json = (key: string) => {
    const encoded = value(key)
    if (encoded === undefined) return required(report, `data[${key}]`)
    if (!isJsonObject(Buffer.from(encoded, 'base64').toString())) {
      invalid(report, `data[${key}]`, '<secret contents redacted>', 'must be a JSON object')
    }
  }
  switch (secret.type) {
    case 'orch.io/service-account-token': {
      const annotations = secret.metadata.annotations ?? {}
      if (!Object.hasOwn(annotations, ACCOUNT_NAME) || annotations[ACCOUNT_NAME] === '') {
        required(report, `metadata.annotations[${ACCOUNT_NAME}]`)
      }
      break
    }
    case 'orch.io/dockercfg': json('.dockercfg'); break
    case 'orch.io/dockerconfigjson': json('.dockerconfigjson'); break
    case 'orch.io/basic-auth':
      if (value('username') === undefined && value('password') === undefined) {
        required(report, 'data[username]')
        required(report, 'data[password]')
      }
      break
    case 'orch.io/ssh-auth': if (!value('ssh-privatekey')) required(report, 'data[ssh-privatekey]'); break
    case 'orch.io/tls':
      for (const key of ['tls.crt', 'tls.key']) if (value(key) === undefined) required(report, `data[${key}]`)
  }
}

function isJsonObject (text: string): boolean {
  try {
    const value: unknown = JSON.parse(text)
    return typeof value === 'object' && !Array.isArray(value)
  } catch {
    return false
  }
}

export const secrets = resource(Secret, {
  plural: 'secrets',
  namespaced: true,
  columns: [
    name,
    text<Secret>('Type', 'What the data is for.', ({ type }) => type),
    text<Secret>('Data', 'Number of entries.', ({ data }) => count(data)),
    age
  ],
  strategy: { warnings: secretWarnings },
  selectableFields: { type: ({ type }) => type ?? '' }
})
