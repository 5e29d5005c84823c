/**
 * Real programs the tests run against, from Debian's packages: taken from the PATH where that is asked for
 * and they are there, else downloaded and unpacked into `.cache/`. Nothing is installed and no service is
 * started, so it works for an ordinary user too; as root the package lists are fetched when they are missing.
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

/** Options of apt for one release alone, whatever the machine's own is, with lists and state below `folder`. */
function releaseOptions (release: string, folder: string): string[] {
  for (const path of ['lists/partial', 'archives/partial']) mkdirSync(join(folder, path), { recursive: true })
  writeFileSync(join(folder, 'sources.list'), `deb [signed-by=/usr/share/keyrings/debian-archive-keyring.gpg] http://deb.debian.org/debian ${release} main\n`)
  writeFileSync(join(folder, 'status'), '')
  const settings = { 'Dir::Etc::sourcelist': 'sources.list', 'Dir::State::lists': 'lists', 'Dir::State::status': 'status', 'Dir::Cache::archives': 'archives', 'Dir::Cache::pkgcache': 'pkgcache.bin', 'Dir::Cache::srcpkgcache': 'srcpkgcache.bin' }
  return ['-o', 'Dir::Etc::sourceparts=-', ...Object.entries(settings).flatMap(([name, path]) => ['-o', `${name}=${join(folder, path)}`])]
}

/**
 * The folder of an unpacked Debian package, of that release if one is named.
 * @param content a path below it that must be there
 * @throws Error with one line that says what to install when it can't be had
 */
function debianPackage (packageName: string, content: string, release?: string): string {
  const folder = join(cache, release === undefined ? packageName : `${packageName}-${release}`)
  if (existsSync(join(folder, content))) return folder
  mkdirSync(cache, { recursive: true })
  const work = mkdtempSync(join(cache, 'fetch-'))
  try {
    const options = release === undefined ? [] : releaseOptions(release, join(work, 'apt'))
    let download = run('apt-get', [...options, 'download', packageName], work)
    if (!download.ok) {
      run('apt-get', [...options, 'update'], work)
      download = run('apt-get', [...options, 'download', packageName], work)
    }
    const archive = readdirSync(work).find(name => name.endsWith('.deb'))
    if (!download.ok || archive === undefined) throw new Error(download.output.split('\n').at(-1))
    const unpacked = run('dpkg', ['-x', archive, 'unpacked'], work)
    if (!unpacked.ok) throw new Error(unpacked.output)
    if (!existsSync(join(folder, content))) {
      rmSync(folder, { recursive: true, force: true })
      renameSync(join(work, 'unpacked'), folder)
    }
    return folder
  } catch (error) {
    throw new Error(`the tests need ${content} of Debian's package ${packageName}: install it, or run them where apt-get download works (${String((error as Error).message)})`)
  } finally {
    rmSync(work, { recursive: true, force: true })
  }
}

/** The path of a program of a Debian package. @throws Error as `debianPackage` */
export const debianProgram = (packageName: string, program: string, release?: string): string => join(debianPackage(packageName, `usr/bin/${program}`, release), 'usr/bin', program)

export const etcdProgram = (): string => onPath('etcd') ?? debianProgram('etcd-server', 'etcd')
export const etcdctlProgram = (): string => onPath('etcdctl') ?? debianProgram('etcd-client', 'etcdctl')
/** The oldest and the newest kubectl of Debian's releases: 1.20 and 1.32. */
export const kubectlPrograms = (): [string, string] => [debianProgram('kubernetes-client', 'kubectl', 'bookworm'), debianProgram('kubectl', 'kubectl', 'trixie')]
/** Reads rules and scrapes as Prometheus does; no daemon is started. */
export const promtoolProgram = (): string => onPath('promtool') ?? debianProgram('prometheus', 'promtool')

/** Fetches a package with all that it needs and the machine lacks into one folder, without installing any of it. @throws Error as `debianPackage` */
function debianPackages (folder: string, packageNames: readonly string[], content: string): string {
  const target = join(cache, folder)
  if (existsSync(join(target, content))) return target
  mkdirSync(cache, { recursive: true })
  const work = mkdtempSync(join(cache, 'fetch-'))
  try {
    mkdirSync(join(work, 'archives/partial'), { recursive: true })
    const install = ['-o', `Dir::Cache::archives=${join(work, 'archives')}`, '-o', 'Debug::NoLocking=1', '--yes', '--no-install-recommends', '--download-only', 'install', ...packageNames]
    let download = run('apt-get', install, work)
    if (!download.ok) {
      run('apt-get', ['update'], work)
      download = run('apt-get', install, work)
    }
    if (!download.ok) throw new Error(download.output.split('\n').at(-1))
    for (const name of readdirSync(join(work, 'archives'))) {
      if (!name.endsWith('.deb')) continue
      const unpacked = run('dpkg', ['-x', join(work, 'archives', name), 'unpacked'], work)
      if (!unpacked.ok) throw new Error(unpacked.output)
    }
    if (!existsSync(join(target, content))) {
      rmSync(target, { recursive: true, force: true })
      renameSync(join(work, 'unpacked'), target)
    }
    return target
  } catch (error) {
    throw new Error(`the tests need Debian's package ${packageNames.join(' and ')}: install it, or run them where apt-get can download it and what it depends on (${String((error as Error).message)})`)
  } finally {
    rmSync(work, { recursive: true, force: true })
  }
}

/** Debian's Chromium, and the environment that it needs where it is not installed. */
export function chromiumProgram (): { readonly path: string, readonly env: NodeJS.ProcessEnv } {
  const installed = onPath('chromium')
  if (installed !== undefined) return { path: installed, env: {} }
  const path = 'usr/lib/chromium/chromium'
  const folder = debianPackages('chromium', ['chromium', 'fonts-dejavu-core'], path)
  const libraries = join(folder, 'usr/lib', `${process.arch === 'arm64' ? 'aarch64' : 'x86_64'}-linux-gnu`)
  return { path: join(folder, path), env: { LD_LIBRARY_PATH: `${libraries}:${join(libraries, 'pulseaudio')}` } }
}

/** Environment of the programs written in Go that run for less than a second: much of it is collecting garbage. */
export const SHORT_LIVED = { GOGC: '400' }

/** systemd's programs, and the environment that they need where they are not installed. */
export function systemdProgram (program: 'systemd-analyze' | 'systemd-notify'): { readonly path: string, readonly env: NodeJS.ProcessEnv } {
  const installed = onPath(program)
  if (installed !== undefined) return { path: installed, env: {} }
  const folder = join('usr/lib', `${process.arch === 'arm64' ? 'aarch64' : 'x86_64'}-linux-gnu`, 'systemd')
  const path = program === 'systemd-notify' ? `bin/${program}` : `usr/bin/${program}`
  return { path: join(debianPackage('systemd', path), path), env: { LD_LIBRARY_PATH: join(debianPackage('libsystemd-shared', folder), folder) } }
}

/** Gets everything before the first test, and ends the process with one line when something can't be had. */
export function ensureTools (): void {
  try {
    etcdProgram()
    etcdctlProgram()
    kubectlPrograms()
    promtoolProgram()
    systemdProgram('systemd-analyze')
    chromiumProgram()
  } catch (error) {
    console.error((error as Error).message)
    process.exit(1)
  }
}
