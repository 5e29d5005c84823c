/** ConfigMap and Secret (v1): data for programs. */
import { bool, map, string } from '../declare.js'
import type { Plain, Report, Static } from '../declare.js'
import { kind, metadata } from './package.js'
import { byteLengthOfBase64, sameValue } from '../values.js'
import { configKey } from '../names.js'

/** Of all values together, in bytes. */
const MAX_SIZE = 1024 * 1024

const immutableFlag = 'True keeps the data as it is for good; can be set but never unset.'

export type ConfigMap = Static<typeof ConfigMap>
export const ConfigMap = kind('ConfigMap', 'Data that is no secret, as text or bytes by key.', {
  metadata,
  immutable: bool(4, immutableFlag, { pointer: true, immutable: 'ruled' }),
  data: map(2, 'Texts.', 'string', { default: {}, immutable: 'ruled' }),
  binaryData: map(3, 'Bytes; no key of data again.', 'bytes', { immutable: 'ruled' })
}, {
  validate: (config, at, report) => {
    let size = 0
    for (const [key, value] of Object.entries(config.data ?? {})) {
      checkKey('data', key, report)
      if (config.binaryData !== undefined && Object.hasOwn(config.binaryData, key)) {
        report({ type: 'FieldValueInvalid', field: `data[${key}]`, value: key, detail: 'is a key of binaryData too' })
      }
      size += Buffer.byteLength(value)
    }
    for (const [key, value] of Object.entries(config.binaryData ?? {})) {
      checkKey('binaryData', key, report)
      size += byteLengthOfBase64(value)
    }
    // The limit is on both maps together, which have no field in common.
    if (size > MAX_SIZE) report({ type: 'FieldValueTooLong', field: '', detail: `must have at most ${MAX_SIZE} bytes` })
  },
  validateUpdate: (config, old, at, report) => checkImmutable(config, old, ['data', 'binaryData'], report)
})

const TYPES = ['Opaque', 'orch.io/service-account-token', 'orch.io/dockercfg', 'orch.io/dockerconfigjson', 'orch.io/basic-auth', 'orch.io/ssh-auth', 'orch.io/tls', 'bootstrap.orch.io/token'] as const
const ACCOUNT_NAME = 'orch.io/service-account.name'

export type Secret = Static<typeof Secret>
export const Secret = kind('Secret', 'Data only some may read, as bytes by key.', {
  metadata,
  immutable: bool(5, immutableFlag, { pointer: true, immutable: 'ruled' }),
  data: map(2, 'Bytes.', 'bytes', { immutable: 'ruled' }),
  stringData: map(4, 'Texts to be merged into data; for writing only, never answered.', 'string'),
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
    if (size > MAX_SIZE) report({ type: 'FieldValueTooLong', field: 'data', detail: `must have at most ${MAX_SIZE} bytes` })
    validateSecretType(secret, report)
  },
  validateUpdate: (secret, old, at, report) => checkImmutable(secret, old, ['data'], report)
})

function validateSecretType (secret: Secret, report: Report): void {
  const data = secret.data ?? {}
  const value = (key: string) => Object.hasOwn(data, key) ? data[key] : undefined
  const required = (field: string) => report({ type: 'FieldValueRequired', field, detail: '' })
  const json = (key: string) => {
    const encoded = value(key)
    if (encoded === undefined) return required(`data[${key}]`)
    try {
      JSON.parse(Buffer.from(encoded, 'base64').toString())
    } catch {
      report({ type: 'FieldValueInvalid', field: `data[${key}]`, value: '<secret contents redacted>', detail: 'must be valid JSON' })
    }
  }
  switch (secret.type) {
    case 'orch.io/service-account-token': {
      const annotations = secret.metadata.annotations ?? {}
      if (!Object.hasOwn(annotations, ACCOUNT_NAME) || annotations[ACCOUNT_NAME] === '') required(`metadata.annotations[${ACCOUNT_NAME}]`)
      break
    }
    case 'orch.io/dockercfg': json('.dockercfg'); break
    case 'orch.io/dockerconfigjson': json('.dockerconfigjson'); break
    case 'orch.io/basic-auth':
      if (value('username') === undefined && value('password') === undefined) {
        required('data[username]')
        required('data[password]')
      }
      break
    case 'orch.io/ssh-auth': if (!value('ssh-privatekey')) required('data[ssh-privatekey]'); break
    case 'orch.io/tls': for (const key of ['tls.crt', 'tls.key']) if (value(key) === undefined) required(`data[${key}]`)
  }
}

function checkKey (field: string, key: string, report: Report): void {
  const why = configKey(key)
  if (why !== undefined) report({ type: 'FieldValueInvalid', field: `${field}[${key}]`, value: key, detail: why })
}

function checkImmutable (object: { immutable?: boolean | undefined }, old: { immutable?: boolean | undefined }, fields: readonly string[], report: Report): void {
  if (old.immutable !== true) return
  const forbid = (field: string) => report({ type: 'FieldValueForbidden', field, detail: 'field is immutable when `immutable` is set' })
  if (object.immutable !== true) forbid('immutable')
  // Both are objects of one declaration, read here by the names of their fields.
  for (const field of fields) if (!sameValue((object as Plain)[field], (old as Plain)[field])) forbid(field)
}
