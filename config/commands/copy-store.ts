import { bytesOf, type StoreReader, type StoreWriter } from '../../storage/transfer/stores.js'
import type { Interruption } from './interruption.js'
import { Progress, type ProgressStream } from './progress.js'

export interface CopyResult {
  /** The revision at which the new store continues. */
  readonly revision: number
  /** Number of objects, bytes and seconds, as text for the command's last line. */
  readonly what: string
}

/** Copies a store or snapshot into a new store. If this fails or is interrupted, no server starts on the result. */
export async function copyStore (
  reader: StoreReader, open: () => Promise<StoreWriter>,
  { name, stream, interruption }: { name: string, stream: ProgressStream, interruption: Interruption }
): Promise<CopyResult> {
  const writer = await open()
  const progress = new Progress(stream, name, reader.count)
  try {
    for await (const objects of reader.objects()) {
      interruption.check()
      await writer.put(objects)
      progress.add(objects.length, objects.reduce((sum, object) => sum + bytesOf(object), 0))
    }
    await reader.unchanged()
    interruption.check()
    const revision = await writer.finish()
    return { revision, what: progress.end() }
  } catch (error) {
    progress.end()
    await writer.discard().catch((failure: unknown) => {
      const reason = (error: unknown): string => error instanceof Error ? error.message : String(error)
      throw new Error(
        `${reason(error)}; what was written could not be removed (${reason(failure)}), which the next run does`,
        { cause: error }
      )
    })
    throw error
  }
}
