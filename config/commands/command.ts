import type { CommandForm, ParsedCommand } from '../command-line.js'
import type { Interruption } from './interruption.js'
import type { ProgressStream } from './progress.js'

/** A command such as `snapshot`, which works on a store and then exits. */
export interface Command {
  readonly form: CommandForm
  /** @returns the last line @throws Error whose message is the reason, on one line */
  readonly run: (parsed: ParsedCommand, context: Context) => Promise<string>
}

export interface Context {
  readonly interruption: Interruption
  /** Receives the progress. */
  readonly stream: ProgressStream
}
