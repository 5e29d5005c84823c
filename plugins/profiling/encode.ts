/** Encodes V8 profiles in gzipped pprof format. */
import type { HeapProfiler, Profiler, Runtime } from 'node:inspector'
import { promisify } from 'node:util'
import { gzip } from 'node:zlib'
import { Function as ProfiledFunction, Line, Location, Profile, Sample, StringTable, ValueType } from 'pprof-format'

const compress = promisify(gzip)

/** A code location and its caller. */
interface Frame { readonly callFrame: Runtime.CallFrame, readonly parent: Frame | undefined }

interface Measured { readonly frame: Frame, readonly values: readonly number[] }

interface Shape {
  /** Names and units of the values. */
  readonly types: ReadonlyArray<readonly [type: string, unit: string]>
  readonly period: number
  readonly startedAt: Date
  readonly milliseconds: number
}

/** @returns CPU time by stack, in samples and nanoseconds */
export async function encodeCpu (
  { nodes, samples = [], timeDeltas = [] }: Profiler.Profile, startedAt: Date, milliseconds: number, interval: number
): Promise<Buffer> {
  const parents = new Map<number, number>()
  for (const { id, children = [] } of nodes) for (const child of children) parents.set(child, id)
  const byId = new Map(nodes.map(node => [node.id, node]))
  const frames = new Map<number, Frame>()
  const frameOf = (id: number): Frame | undefined => {
    const made = frames.get(id)
    const node = byId.get(id)
    if (made !== undefined || node === undefined) return made
    const parent = parents.get(id)
    const frame: Frame = { callFrame: node.callFrame, parent: parent === undefined ? undefined : frameOf(parent) }
    frames.set(id, frame)
    return frame
  }
  const spent = new Map<number, [count: number, nanoseconds: number]>()
  samples.forEach((id, at) => {
    const before = spent.get(id) ?? [0, 0]
    spent.set(id, [before[0] + 1, before[1] + Math.max(0, timeDeltas[at] ?? 0) * 1000])
  })
  const measured = [...spent].flatMap(([id, values]): Measured[] => {
    const frame = frameOf(id)
    return frame === undefined || frame.callFrame.functionName === '(idle)' ? [] : [{ frame, values }]
  })
  return await encode(measured, {
    types: [['samples', 'count'], ['cpu', 'nanoseconds']], period: interval * 1000, startedAt, milliseconds
  })
}

/** @returns live allocations by stack, in bytes */
export async function encodeHeap (
  { head }: HeapProfiler.SamplingHeapProfile, startedAt: Date, milliseconds: number, interval: number
): Promise<Buffer> {
  const measured: Measured[] = []
  const waiting: Array<readonly [HeapProfiler.SamplingHeapProfileNode, Frame | undefined]> = [[head, undefined]]
  for (let next = waiting.pop(); next !== undefined; next = waiting.pop()) {
    const [{ callFrame, selfSize, children }, parent] = next
    const frame: Frame = { callFrame, parent }
    if (selfSize > 0 && parent !== undefined) measured.push({ frame, values: [selfSize] })
    for (const child of children) waiting.push([child, frame])
  }
  return await encode(measured, { types: [['inuse_space', 'bytes']], period: interval, startedAt, milliseconds })
}

async function encode (
  measured: readonly Measured[], { types, period, startedAt, milliseconds }: Shape
): Promise<Buffer> {
  const stringTable = new StringTable()
  const functions = new Map<string, ProfiledFunction>()
  const locations = new Map<string, Location>()
  const locationOf = ({ functionName, url, lineNumber }: Runtime.CallFrame): number => {
    const name = functionName === '' ? '(anonymous)' : functionName
    const key = `${name} ${url}:${lineNumber}`
    let location = locations.get(key)
    if (location === undefined) {
      const id = locations.size + 1
      functions.set(key, new ProfiledFunction({
        id, name: stringTable.dedup(name), systemName: stringTable.dedup(name), filename: stringTable.dedup(url),
        startLine: lineNumber + 1
      }))
      locations.set(key, location = new Location({ id, line: [new Line({ functionId: id, line: lineNumber + 1 })] }))
    }
    return Number(location.id)
  }
  const stackOf = (frame: Frame): number[] => {
    const stack: number[] = []
    // Skip the root: it is not a call.
    for (let at: Frame | undefined = frame; at?.parent !== undefined; at = at.parent) {
      stack.push(locationOf(at.callFrame))
    }
    return stack
  }
  const sample = measured.map(({ frame, values }) =>
    new Sample({ locationId: stackOf(frame), value: values.map(Math.round) }))
  const typeOf = ([type, unit]: readonly [string, string]): ValueType =>
    new ValueType({ type: stringTable.dedup(type), unit: stringTable.dedup(unit) })
  const sampleType = types.map(typeOf)
  const last = sampleType.at(-1)
  const profile = new Profile({
    sampleType,
    sample,
    location: [...locations.values()],
    function: [...functions.values()],
    stringTable,
    timeNanos: BigInt(startedAt.getTime()) * 1_000_000n,
    durationNanos: Math.round(milliseconds * 1e6),
    ...(last === undefined ? {} : { periodType: last }),
    period
  })
  return await compress(profile.encode())
}
