/**
 * How the other side of an edge sees what this server names: a client, an extension server, a webhook, a node agent.
 * Inside there are own names alone, so only edges have such a view; `schemas/compat/naming.ts` is the other one.
 */

import type { Renaming } from './codec/renaming.js'
import type { Message } from './language/types.js'
import type { ApiObject } from './meta/api-object.js'
import { OWN_DOCUMENT_NAMES, type DocumentNames } from './openapi/document-names.js'
import type { FieldError, Status } from './status.js'

/** A name, or text with names in it, as the other side has it. Every such function is its own inverse. */
export type Rename = (text: string) => string

export interface ReviewNames {
  readonly body: string
  /** The answer under own names; bytes that are none stay. */
  readonly answer: (body: Uint8Array) => Uint8Array
}

export interface Naming {
  /** False where what is shown is what is stored, so that it need not be translated, nor recorded apart. */
  readonly renames: boolean
  /** Tells apart what is kept for each view. */
  readonly id: string
  /** A group, or `GROUP/VERSION`. */
  readonly group: Rename
  /** A user, or a group of users. */
  readonly user: Rename
  /** A key of labels, annotations, extra values of users and the like. */
  readonly key: Rename
  readonly namespace: Rename
  /** A path of the API: its group, namespace and name. */
  readonly path: Rename
  /** The selectors in a query. @param path of the request */
  readonly query: (query: string, path: string) => string
  /** What a component makes: its locks and service accounts, which default roles name. */
  readonly component: Rename
  /**
   * Domains of labels that are the system's here because they have no other name, and those of them that nodes may set.
   */
  readonly labelDomains: { readonly system: readonly string[], readonly nodes: readonly string[] }
  /** The name of a service in its certificate. */
  readonly hostOf: (service: { readonly name: string, readonly namespace: string }) => string
  /** The own name of a user or group whom others have authenticated. */
  readonly ownUser: Rename
  /** What a token of a service account says. */
  readonly claims: (own: Readonly<Record<string, unknown>>) => Readonly<Record<string, unknown>>
  /** Claims under own names, of a token under either. */
  readonly ownClaims: (sent: Readonly<Record<string, unknown>>) => Readonly<Record<string, unknown>>
  /** An AdmissionReview or ConversionReview, as JSON. */
  readonly review: (own: string) => ReviewNames
  /** An audit event, as JSON. */
  readonly event: Rename
  /** With which headers of the project begin. */
  readonly headerPrefix: string
  /** The value of an Accept header, with own media types. */
  readonly accepted: (sent: string | undefined) => string | undefined
  /** Of an answer. */
  readonly mediaType: (own: string) => string
  /** A sentence that this server wrote. */
  readonly words: (own: string) => string
  readonly status: <T extends Omit<Status, 'code'>>(own: T) => T
  /** A document of discovery, which has no message. */
  readonly document: (own: object) => object
  readonly openApi: DocumentNames
  /** Whether an object may look different; false if it surely looks as it is stored. */
  readonly mayDiffer: (json: Buffer) => boolean
  /** What stored JSON of the message calls otherwise, in values alone; undefined if nothing. */
  readonly renaming: (message: Message) => Renaming | undefined
  /** By whose members JSON under these names is read and written; the same in memory, in protobuf and mostly in all. */
  readonly message: <T>(own: Message<T>) => Message<T>
  /** Names in the values of an object, in place. Its own inverse. */
  readonly value: <T>(message: Message, object: T) => T
  /** An object as JSON under these names; takes over the given one. */
  readonly shown: <T>(message: Message, own: T) => T
  /** What clients may not write, as they would mean something else by it. @param old what is stored */
  readonly findings: ((object: ApiObject, old: ApiObject | undefined) => FieldError[]) | undefined
}

const same = <T>(own: T): T => own

export const OWN_NAMES: Naming = {
  renames: false,
  id: '',
  group: same,
  user: same,
  key: same,
  namespace: same,
  path: same,
  query: same,
  component: same,
  labelDomains: { system: [], nodes: [] },
  hostOf: ({ name, namespace }) => `${name}.${namespace}.svc`,
  ownUser: same,
  claims: same,
  ownClaims: same,
  review: body => ({ body, answer: same }),
  event: same,
  headerPrefix: 'x-orch',
  accepted: same,
  mediaType: same,
  words: same,
  status: same,
  document: same,
  openApi: OWN_DOCUMENT_NAMES,
  mayDiffer: () => false,
  renaming: () => undefined,
  message: same,
  value: (_message, sent) => sent,
  shown: (_message, own) => own,
  findings: undefined
}
