/** POST of an operation: nothing is stored but by the operation itself, which those on subresources admit too. */
import type { ApiObject } from '../../schemas/meta/api-object.js'
import type { VirtualOperation } from '../resource-registry.js'
import { ADMIT, ADMIT_AGAIN } from '../stages/admit.js'
import { DECODE } from '../stages/decode.js'
import { matchNamespace } from '../stages/identity.js'
import { runStages, type Stage } from '../stages/run.js'
import { Given, present, type Sent, Write } from '../stages/write.js'
import type { ObjectWrite } from '../write-context.js'

export class OperationWrite extends Write {
  readonly given: Given<ApiObject>
  readonly #run: VirtualOperation['run']
  #returned: object | undefined = undefined

  constructor (write: ObjectWrite, run: VirtualOperation['run'], sent: ApiObject | Sent<ApiObject>) {
    super(write, 'CREATE')
    this.given = new Given(sent)
    this.#run = run
  }

  override get object (): ApiObject { return this.given.value }
  override get name (): string { return this.object.metadata.name ?? '' }

  get returned (): object { return present(this.#returned, 'outcome') }

  async operate (): Promise<void> { this.#returned = await this.#run(this.object, this.target, this.context) }
}

const isVirtual = ({ store }: OperationWrite): boolean => store.type.virtual

export const OPERATE: ReadonlyArray<Stage<OperationWrite>> = [
  DECODE,
  { name: 'identify', run: ({ store, object, target }) => { matchNamespace(store, object, target) } },
  { ...ADMIT, when: isVirtual },
  { ...ADMIT_AGAIN, when: isVirtual },
  { name: 'operate', run: write => write.operate() }
]

/** @returns what the operation returns @throws StatusError 400, any admission refusal; as the operation */
export async function operate (
  write: ObjectWrite, run: VirtualOperation['run'], sent: ApiObject | Sent<ApiObject>
): Promise<object> {
  const operation = new OperationWrite(write, run, sent)
  await runStages(OPERATE, operation)
  return operation.returned
}
