/** JSON patch (RFC 6902): parsed and bounded here, applied by `fast-json-patch`. */
import jsonPatch from 'fast-json-patch'
import type { Operation } from 'fast-json-patch'
import { badRequest, invalid } from '../../schemas/status.js'

const MOST_OPERATIONS = 10_000
const OPERATIONS = new Set(['add', 'remove', 'replace', 'move', 'copy', 'test'])
const WITH_VALUE = new Set(['add', 'replace', 'test'])
/** Copies can double a document each time; the result is bounded as a body is. */
const MOST_COPIED_BYTES = 3 * 1024 * 1024

/** @throws StatusError 400 naming the operation that is malformed, 413 when there are too many. */
export function parseJsonPatch (value: unknown): Operation[] {
  if (!Array.isArray(value)) throw badRequest('a JSON patch must be a list of operations')
  if (value.length > MOST_OPERATIONS) throw badRequest(`the JSON patch has ${value.length} operations; at most ${MOST_OPERATIONS} are allowed`)
  value.forEach((operation: unknown, at) => {
    if (typeof operation !== 'object' || operation === null) throw badRequest(`JSON patch operation ${at} must be an object`)
    const { op, path, from } = operation as Record<string, unknown>
    if (typeof op !== 'string' || !OPERATIONS.has(op)) throw badRequest(`JSON patch operation ${at}: "op" must be one of ${[...OPERATIONS].join(', ')}`)
    if (!isPointer(path)) throw badRequest(`JSON patch operation ${at}: "path" must be a JSON pointer such as /metadata/labels/app`)
    if ((op === 'move' || op === 'copy') && !isPointer(from)) throw badRequest(`JSON patch operation ${at}: "from" must be a JSON pointer`)
    if (WITH_VALUE.has(op) && !Object.hasOwn(operation, 'value')) throw badRequest(`JSON patch operation ${at}: "value" is missing`)
  })
  return value as Operation[] // checked above
}

const isPointer = (path: unknown): path is string => typeof path === 'string' && (path === '' || path.startsWith('/')) && !/~(?![01])/.test(path)

/**
 * Changes `document`.
 * @throws StatusError 422 when an operation does not fit the object, a `test` among them
 */
export function applyJsonPatch (document: unknown, operations: readonly Operation[], kind: { group: string, kind: string }, name: string): unknown {
  let copied = 0
  let patched = document
  for (let at = 0; at < operations.length; at++) {
    const operation = operations[at] as Operation
    try {
      if (operation.op === 'copy') {
        copied += JSON.stringify(jsonPatch.getValueByPointer(patched, operation.from) ?? null).length
        if (copied > MOST_COPIED_BYTES) throw new Error('the copies add up to more than 3 MiB')
      }
      if (operation.op === 'move' && operation.path.startsWith(`${operation.from}/`)) throw new Error('an object cannot be moved into itself')
      patched = jsonPatch.applyOperation(patched, structuredClone(operation), true, true, true, at).newDocument
    } catch (error) {
      const { name: code, message } = error as Error
      const why = code === 'TEST_OPERATION_FAILED' ? 'the test failed' : firstLine(message)
      throw invalid(kind, name, [{ type: 'FieldValueInvalid', field: `patch[${at}]`, value: `${operation.op} ${operation.path}`, detail: why }])
    }
  }
  return patched
}

const firstLine = (text: string): string => (text.split('\n')[0] ?? '').slice(0, 200)
