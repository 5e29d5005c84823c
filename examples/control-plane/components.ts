/**
 * The programs of a control plane besides its servers: a controller manager and a scheduler. Their commands are the
 * reader's own. On each machine one runs; they elect a leader by a Lease of their name.
 */

/** Its user may do what the default role of that name lists, and hold the Lease without `system:` in orch-system. */
export const COMPONENTS = [
  { name: 'controller-manager', user: 'system:orch-controller-manager', port: 10_257 },
  { name: 'scheduler', user: 'system:orch-scheduler', port: 10_259 }
] as const

type Name = (typeof COMPONENTS)[number]['name']

export interface Command {
  /** Words, separated by blanks, with the placeholders of `wordsOf`. */
  readonly command: string
  readonly image: string
}

export type Commands = Readonly<Partial<Record<Name, Command>>>

export interface Place {
  readonly component: string
  readonly machine: string
  readonly address: string
  readonly port: number
}

const PKI = '/etc/orch/pki'

/**
 * The words of a command. `{kubeconfig}` stands for the file with its credentials, `{pki}` for the folder of the
 * certificates, `{machine}`, `{address}` and `{port}` for where it runs and answers `/healthz` over TLS.
 * @throws Error for another placeholder, or a command without words
 */
export function wordsOf (command: string, { component, machine, address, port }: Place): string[] {
  const values: Readonly<Record<string, string>> =
    { kubeconfig: `${PKI}/${component}.kubeconfig`, pki: PKI, machine, address, port: String(port) }
  const words = command.split(/\s+/).filter(word => word !== '')
  if (words.length === 0) throw new Error(`the command of the ${component} is empty`)
  return words.map(word => word.replaceAll(/\{(\w+)\}/g, (placeholder, name: string) => {
    const value = values[name]
    if (value === undefined) throw new Error(`the command of the ${component} has ${placeholder}, which has no value`)
    return value
  }))
}

const text = { type: 'string' } as const
/** Options of the scripts. */
export const COMMAND_OPTIONS = {
  'controller-manager': text, 'controller-manager-image': text, scheduler: text, 'scheduler-image': text
} as const

/**
 * @param image that of commands without an image of their own; without it an image is needed
 * @throws Error for a command without an image, or an image without a command
 */
export function commandsOf (
  values: Readonly<Partial<Record<keyof typeof COMMAND_OPTIONS, string>>>, image?: string
): Commands {
  return Object.fromEntries(COMPONENTS.flatMap(({ name }) => {
    const [command, own = image] = [values[name], values[`${name}-image`]]
    if (command === undefined && values[`${name}-image`] === undefined) return []
    if (command === undefined || own === undefined) {
      throw new Error(`--${name} and --${name}-image belong together: a command, and the image that has the program`)
    }
    return [[name, { command, image: own }]]
  }))
}
