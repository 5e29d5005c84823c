/** The names in answers: this server's own, or the public project's. No other file of answers/ knows both. */
import { rawJson } from '../schemas/codec/json/escape.js'
import {
  publicStatus, publicType, translateDecoded, translateDocument, translateJson
} from '../schemas/compat/objects.js'
import { publicWords } from '../schemas/compat/sentences.js'
import { translateGroup, translateKey } from '../schemas/compat/text.js'
import { parseExactly } from '../schemas/codec/json/exact.js'
import type { Message } from '../schemas/language/declare.js'
import type { ApiObject } from '../schemas/resource.js'
import type { Tabular } from '../schemas/table.js'
import { OWN_NAMES, type Naming } from '../schemas/naming.js'
import { clone } from '../schemas/language/values.js'
import type { Status } from '../schemas/status.js'
import type { Entry } from '../storage/cache/entry.js'
import { publicEntry } from '../registry/public-entry.js'
import type { ResourceStore } from '../registry/resource-store.js'

export interface Names {
  /** Tells apart what is kept for each. */
  readonly key: string
  readonly mediaType: (own: string) => string
  readonly apiVersion: (own: string) => string
  readonly words: (own: string) => string
  /** An entry of the version that is asked for. */
  readonly entry: (store: ResourceStore, own: Entry) => Entry
  /** A copy, unless the names are ours. */
  readonly object: (shown: Tabular, own: ApiObject) => ApiObject
  readonly decoded: <T extends object>(message: Message<T>, own: T) => T
  readonly json: (message: Message, own: string) => string
  readonly status: <T extends Omit<Status, 'code'>>(own: T) => T
  /** A document without a message. */
  readonly document: (own: object) => object
  /** The name of a key of ours, in cells. */
  readonly cellKey: ((own: string) => string) | undefined
}

const same = <T>(own: T): T => own

export const OWN: Names = {
  key: '',
  mediaType: same,
  apiVersion: same,
  words: same,
  entry: (_store, own) => own,
  object: (_shown, own) => own,
  decoded: (_message, own) => own,
  json: (_message, own) => own,
  status: same,
  document: same,
  cellKey: undefined
}

const PUBLIC: Names = {
  key: ' public',
  mediaType: publicType,
  apiVersion: translateGroup,
  words: publicWords,
  entry: publicEntry,
  object: ({ message }, own) => message === undefined ? own : translateJson(message, clone(own)),
  decoded: (message, own) => translateDecoded(message, clone(own)),
  json: (message, own) => rawJson(translateJson(message, parseExactly(Buffer.from(own)))),
  status: publicStatus,
  document: own => translateDocument(own) as object,
  cellKey: translateKey
}

export const namesOf = ({ naming }: { readonly naming: Naming }): Names => naming === OWN_NAMES ? OWN : PUBLIC
