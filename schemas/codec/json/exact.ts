/**
 * JSON that keeps every digit of integers beyond ±9007199254740991, as bigints. Nearly all text has none; detecting
 * that reads every sixteenth byte, and JSON.parse does the rest.
 */
import { randomBytes } from 'node:crypto'
import { DocumentError } from '../../language/decode-error.js'
import { setMember } from '../../language/values.js'
import { finish, type Steps } from '../../steps.js'

/** Digits of the shortest integer beyond a safe number. */
const LONG = 16
/** Digits of the longest accepted integer: conversion takes more than linear time. */
const MAX_DIGITS = 1000

const [QUOTE, MINUS, ZERO, NINE, BACKSLASH] = [0x22, 0x2d, 0x30, 0x39, 0x5c]
const isDigit = (code: number | undefined): boolean => code !== undefined && code >= ZERO && code <= NINE

/** Whether any run of digits, even inside a string, may be an unsafe integer. */
export function hasLongDigits (bytes: Uint8Array): boolean {
  for (let at = LONG - 1; at < bytes.length; at += LONG) {
    if (!isDigit(bytes[at])) continue
    let first = at
    while (isDigit(bytes[first - 1])) first--
    while (isDigit(bytes[at + 1])) at++
    if (at - first + 1 >= LONG) return true
  }
  return false
}

/*
 * Marks strings that stand for bigints on their way through JSON.parse and JSON.stringify; random, so clients cannot
 * forge it.
 */
const MARK = `${randomBytes(18).toString('base64')}:`
const MARKED = new RegExp(`"${MARK.replaceAll('+', '\\+')}(-?\\d+)"`, 'g')

/** JSON.parse for UTF-8 text that the server wrote or validated. */
export function parseExactly (bytes: Uint8Array): unknown {
  const text = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString()
  return hasLongDigits(bytes) ? parseLong(text) : JSON.parse(text)
}

/** @throws SyntaxError for invalid JSON, DecodeError for an integer of more than a thousand digits */
export const parseLong = (text: string): unknown => finish(parseLongInSteps(text))

/** The same, of a large body: there may be as many bigints as values. */
export function * parseLongInSteps (text: string): Steps<unknown> {
  const marked = yield * markIntegers(text)
  yield
  const value: unknown = JSON.parse(marked)
  if (marked === text) return value
  yield
  return yield * unmarked(value, { left: VALUES_PER_STEP })
}

/** Characters read, and values visited, in a step: a millisecond or two. */
const CHARACTERS_PER_STEP = 64 * 1024
const VALUES_PER_STEP = 2000

/**
 * Not a JSON.parse reviver, which is called for every member: 6 KB take 87 µs so and 236 µs with one. The caller has
 * bounded the depth.
 */
function * unmarked (value: unknown, step: { left: number }): Steps<unknown> {
  if (typeof value === 'string') return value.startsWith(MARK) ? BigInt(value.slice(MARK.length)) : value
  if (typeof value !== 'object' || value === null) return value
  const members = value as Record<string, unknown> // or a list, whose keys are indexes
  for (const key of Object.keys(members)) {
    const before = members[key]
    if (--step.left < 0) {
      step.left = VALUES_PER_STEP
      yield
    }
    if (typeof before !== 'string' && typeof before !== 'object') continue
    const after = yield * unmarked(before, step)
    if (after !== before) setMember(members, key, after)
  }
  return value
}

function * markIntegers (text: string): Steps<string> {
  let out = ''
  let copied = 0
  let due = CHARACTERS_PER_STEP
  for (let at = 0; at < text.length; at++) {
    const code = text.charCodeAt(at)
    if (code === QUOTE) {
      for (at++; at < text.length && text.charCodeAt(at) !== QUOTE; at++) if (text.charCodeAt(at) === BACKSLASH) at++
    } else if (code === MINUS || isDigit(code)) {
      const start = at
      while (isPartOfNumber(text.charCodeAt(at + 1))) at++
      if (at - start + 1 < LONG) continue
      const literal = text.slice(start, at + 1)
      if (!/^-?\d+$/.test(literal)) continue
      if (literal.length > MAX_DIGITS) throw new DocumentError(`holds an integer of more than ${MAX_DIGITS} digits`)
      if (Number.isSafeInteger(Number(literal))) continue
      out += `${text.slice(copied, start)}"${MARK}${literal}"`
      copied = at + 1
    }
    if (at < due) continue
    due = at + CHARACTERS_PER_STEP
    yield
  }
  return copied === 0 ? text : out + text.slice(copied)
}

/** Digits, `.`, `e`, `E`, `+`, `-`. */
function isPartOfNumber (code: number): boolean {
  return isDigit(code) || code === 0x2e || code === 0x65 || code === 0x45 || code === 0x2b || code === MINUS
}

/** JSON.stringify for values that may contain bigints. */
export function stringify (value: unknown, indent?: number): string | undefined {
  try {
    return JSON.stringify(value, null, indent)
  } catch (error) {
    if (!(error instanceof TypeError)) throw error
    return JSON.stringify(value, (_key, member: unknown) =>
      typeof member === 'bigint' ? MARK + String(member) : member, indent)?.replace(MARKED, '$1')
  }
}
