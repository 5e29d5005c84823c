/** What a write is made with: given by the server, or sent by a client and decoded in the first stage. */
import type { WaitingSteps } from '../../schemas/steps.js'
import type { Stage } from './run.js'
import { present, type Write } from './write.js'

/** Decodes the body of a request. */
export type Sent<T> = () => WaitingSteps<T>

export class Given<T extends object> {
  readonly sent: Sent<T> | undefined
  #value: T | undefined

  constructor (given: T | Sent<T>) {
    if (typeof given === 'function') this.sent = given as Sent<T>
    else this.#value = given
  }

  get value (): T { return present(this.#value, 'body') }

  * decode (): WaitingSteps<void> {
    if (this.sent !== undefined) this.#value = yield * this.sent()
  }
}

export const DECODE: Stage<Write & { readonly given: Given<object> }> = {
  name: 'decode',
  span: 'Decode',
  when: ({ given }) => given.sent !== undefined,
  run: ({ given }) => given.decode()
}
