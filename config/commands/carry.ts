import { bytesOf, type Contents, type Target } from '../../storage/carry/contents.js'
import type { Interruption } from './interruption.js'
import { Progress, type ProgressStream } from './progress.js'

export interface Carried {
  /** The revision at which the new store continues. */
  readonly revision: number
  /** Number of objects, bytes and seconds, as text for the command's last line. */
  readonly what: string
}

/** Copies contents into a new store. If this fails or is interrupted, it leaves nothing on which a server would start. */
export async function carry (contents: Contents, open: () => Promise<Target>, { name, stream, interruption }: { name: string, stream: ProgressStream, interruption: Interruption }): Promise<Carried> {
  const target = await open()
  const progress = new Progress(stream, name, contents.count)
  try {
    for await (const objects of contents.objects()) {
      interruption.check()
      await target.put(objects)
      progress.add(objects.length, objects.reduce((sum, object) => sum + bytesOf(object), 0))
    }
    await contents.unchanged()
    interruption.check()
    const revision = await target.finish()
    return { revision, what: progress.end() }
  } catch (error) {
    progress.end()
    await target.discard().catch((failure: unknown) => {
      const reason = (one: unknown): string => one instanceof Error ? one.message : String(one)
      throw new Error(`${reason(error)}; what was written could not be removed (${reason(failure)}), which the next run does`, { cause: error })
    })
    throw error
  }
}
