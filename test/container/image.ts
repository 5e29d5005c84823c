/**
 * Executes a Containerfile without a container engine: each stage is a folder, COPY copies, RUN runs with absolute
 * paths moved below that folder. Supports only the instructions that ours uses; others are refused.
 */
import { spawnSync } from 'node:child_process'
import { chmodSync, cpSync, lstatSync, mkdirSync, readdirSync, readFileSync, symlinkSync } from 'node:fs'
import { basename, join } from 'node:path'

/** Milliseconds for one RUN. */
const TIMEOUT = 240_000

export interface Image {
  /** The file system of the last stage. */
  readonly root: string
  readonly workdir: string
  readonly user: string
  readonly env: Readonly<Record<string, string>>
  readonly volumes: readonly string[]
  readonly ports: readonly string[]
  readonly healthcheck: readonly string[]
  readonly entrypoint: readonly string[]
}

interface Stage { name: string, root: string, base: string, workdir: string }

/** Without comments and empty lines; continued lines are joined. */
function instructionsOf (text: string): Array<[string, string]> {
  return text.split('\n')
    .filter(line => !/^\s*(?:#|$)/.test(line))
    .join('\n')
    .replaceAll(/\\\n/g, ' ')
    .split('\n')
    .map(line => {
      const [name = ''] = line.split(' ', 1)
      return [name, line.slice(name.length).trim()]
    })
}

/** The words of an exec form. @throws Error for a shell form, in which no signal would reach the program */
function execForm (text: string): string[] {
  if (!text.startsWith('[')) throw new Error(`not in exec form: ${text}`)
  return JSON.parse(text) as string[] // JSON strings, or it does not parse
}

/**
 * @param context the folder that COPY takes from
 * @param into an empty folder
 * @param installed the packages of the compiler, used instead of installing them again
 * @throws Error when a step fails or is unknown
 */
export function buildImage (context: string, into: string, installed: string): Image {
  const stages: Stage[] = []
  const args = new Map<string, string>()
  const env: Record<string, string> = {}
  const volumes: string[] = []
  const ports: string[] = []
  let user = ''
  let healthcheck: string[] = []
  let entrypoint: string[] = []
  const current = (): Stage => {
    const stage = stages.at(-1)
    if (stage === undefined) throw new Error('an instruction stands before FROM')
    return stage
  }

  for (const [name, rest] of instructionsOf(readFileSync(join(context, 'Containerfile'), 'utf8'))) {
    switch (name) {
      case 'ARG': {
        const [key = '', value = ''] = rest.split('=')
        args.set(key, value)
        break
      }
      case 'FROM': {
        const match = /^(\S+)(?: AS (\S+))?$/.exec(rest)
        const root = join(into, String(stages.length))
        mkdirSync(root)
        const base = (match?.[1] ?? '').replaceAll(/\$\{(\w+)\}/g, (_whole, key: string) => args.get(key) ?? '')
        stages.push({ name: match?.[2] ?? '', root, base, workdir: '/' })
        break
      }
      case 'WORKDIR':
        current().workdir = rest
        mkdirSync(join(current().root, rest), { recursive: true })
        break
      case 'COPY':
        copy(current(), rest, context, stages)
        break
      case 'RUN':
        run(current(), rest, installed)
        break
      case 'ENV': {
        const [key = '', value = ''] = rest.split('=')
        env[key] = value
        break
      }
      case 'USER': user = rest; break
      case 'VOLUME': volumes.push(rest); break
      case 'EXPOSE': ports.push(rest); break
      case 'HEALTHCHECK': healthcheck = execForm(rest.replace(/^(?:--\S+ )*CMD /, '')); break
      case 'ENTRYPOINT': entrypoint = execForm(rest); break
      default: throw new Error(`the Containerfile has ${name}, which is not known here`)
    }
  }
  for (const { base } of stages) if (!/^[^:]+:\d/.test(base)) throw new Error(`the base image ${base} has no version`)
  const { root, workdir } = current()
  return { root, workdir, user, env, volumes, ports, healthcheck, entrypoint }
}

function copy (stage: Stage, rest: string, context: string, stages: readonly Stage[]): void {
  const words = rest.split(' ')
  const [, from] = /^--from=(\S+)$/.exec(words[0] ?? '') ?? []
  if (from !== undefined) words.shift()
  const source = from === undefined ? context : stages.find(({ name }) => name === from)?.root
  const target = words.pop()
  if (source === undefined || target === undefined) throw new Error(`COPY ${rest}: from where, to where?`)
  const to = join(stage.root, target.startsWith('/') ? target : join(stage.workdir, target))
  for (const file of words) {
    const path = join(source, file)
    const folder = lstatSync(path).isDirectory()
    // A folder is copied as its content, a file into a folder that ends in a slash.
    cpSync(path, !folder && target.endsWith('/')
      ? join(to, basename(file))
      : to, { recursive: true, verbatimSymlinks: true })
  }
}

function run (stage: Stage, command: string, installed: string): void {
  const cwd = join(stage.root, stage.workdir)
  // The only step that is skipped: all packages of the project, including the compiler, are already here.
  if (stage.name === 'build' && command === 'npm ci --ignore-scripts') {
    symlinkSync(installed, join(cwd, 'node_modules'))
    return
  }
  let moved = command.replaceAll(/(?<=\s)\/(?=\w)/g, `${stage.root}/`)
  if (process.getuid?.() !== 0) moved = moved.replaceAll(/ -[og] \d+/g, '')
  // The test runner's hooks for Node processes are not part of a build.
  const { status, stdout, stderr } = spawnSync('sh', ['-ec', `unset NODE_OPTIONS; ${moved}`], {
    cwd, encoding: 'utf8', timeout: TIMEOUT,
    env: { ...process.env, npm_config_prefer_offline: 'true', npm_config_audit: 'false', npm_config_fund: 'false' }
  })
  if (status !== 0) throw new Error(`RUN ${command}: ${stdout}${stderr}`)
}

/** All paths below a folder, sorted, without following links. */
export function below (folder: string): string[] {
  return readdirSync(folder, { recursive: true, encoding: 'utf8' }).sort()
}

/**
 * Makes a folder and its content read-only for everybody, or writable again for its owner, so that it can be removed.
 */
export function setWritable (path: string, writable: boolean): void {
  const status = lstatSync(path)
  if (status.isSymbolicLink()) return
  if (!status.isDirectory()) {
    if (!writable) chmodSync(path, (status.mode & 0o111) === 0 ? 0o444 : 0o555)
    return
  }
  if (writable) chmodSync(path, 0o755)
  for (const name of readdirSync(path)) setWritable(join(path, name), writable)
  if (!writable) chmodSync(path, 0o555)
}
