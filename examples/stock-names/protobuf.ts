/** Objects in protobuf, which some clients send without having asked who takes it, as JSON: there what names a group can be told from other text. */
import type { Readable } from 'node:stream'
import { decodeMessage, openEnvelope } from '../../schemas/codec/protobuf/decode.js'
import { Facts, type Message } from '../../schemas/language/types.js'
import { MAX_BODY_BYTES } from '../../schemas/limits.js'
import * as api from '../../schemas/public.js'
import { renameText, TO_OURS } from './names.js'

const isMessage = (value: unknown): value is Message => typeof value === 'object' && value !== null && Facts in value && 'protobuf' in (value[Facts] as object)

/** With a kind of their own, in every version. */
const messages = Object.values<unknown>(api).flatMap(exported => typeof exported === 'object' && exported !== null ? Object.values(exported) : []).filter(isMessage)

/** @throws DecodeError for what is no object in protobuf, or of no kind of ours */
export async function * jsonOf (body: Readable): AsyncGenerator<Buffer> {
  const pieces: Buffer[] = []
  let length = 0
  for await (const piece of body as AsyncIterable<Buffer>) {
    length += piece.length
    // Read to its end, so that the client hears why.
    if (length <= MAX_BODY_BYTES) pieces.push(piece)
  }
  if (length > MAX_BODY_BYTES) throw new api.DecodeError(`more than ${MAX_BODY_BYTES} bytes of protobuf`)
  const { apiVersion, kind, raw } = openEnvelope(Buffer.concat(pieces))
  const ours = renameText(apiVersion, TO_OURS)
  const message = messages.map(each => ({ each, type: each[Facts].type })).find(({ type }) => type?.kind === kind && (type.anyVersion || type.apiVersion === ours))?.each
  if (message === undefined) throw new api.DecodeError(`${kind} of ${apiVersion} is not known here`)
  yield Buffer.from(api.toJson(message, decodeMessage(message, raw, { kind, apiVersion }) as object))
}
