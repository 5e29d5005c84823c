import t from 'tap'
import { EventEmitter } from 'node:events'
import {
  mkdirSync, renameSync, rmSync, symlinkSync, truncateSync, unlinkSync, writeFileSync, type FSWatcher
} from 'node:fs'
import { join } from 'node:path'
import { WatchedFiles, type Contents, type WatchedFilesOptions } from '../../clients/watched-files.js'

type Test = Pick<typeof t, 'teardown' | 'testdir'>

/** Records notifications in order, with a way to wait for the next. */
function listener (): {
  notifications: string[]
  next: () => Promise<string>
  options: Pick<WatchedFilesOptions, 'onChange' | 'onError'>
} {
  const notifications: string[] = []
  let taken = 0
  let wake = (): void => {}
  const add = (text: string): void => { notifications.push(text); wake() }
  return {
    notifications,
    next: async () => {
      while (notifications.length <= taken) await new Promise<void>(resolve => { wake = resolve })
      return notifications[taken++] as string // it is there
    },
    options: {
      onChange: contents => { add(textOf(contents)) },
      onError: error => { add(`${error.code}: ${error.message}`) }
    }
  }
}

const textOf = (contents: Contents): string => [...contents.values()].map(String).join('+')

async function open (t: Test, paths: string[], more: Partial<WatchedFilesOptions> = {}) {
  const heard = listener()
  const files = await WatchedFiles.open({ paths, settle: 20, ...heard.options, ...more })
  const alive = setInterval(() => {}, 1000) // its watches and timers do not keep the process alive
  t.teardown(() => {
    clearInterval(alive)
    files.close()
  })
  return { ...heard, files }
}

t.test('a file that is written, truncated or replaced by a rename is reported with its content', async t => {
  const folder = t.testdir({ f: 'one' })
  const path = join(folder, 'f')
  const { next, files, notifications } = await open(t, [path])
  t.equal(textOf(files.contents), 'one')
  writeFileSync(path, 'two')
  t.equal(await next(), 'two')
  for (const text of ['three', 'four']) {
    writeFileSync(join(folder, 'new'), text)
    renameSync(join(folder, 'new'), path)
    t.equal(await next(), text, 'also after the first rename')
  }
  truncateSync(path)
  t.equal(await next(), '')
  writeFileSync(join(folder, 'another'), 'x')
  writeFileSync(path, '')
  await files.check()
  t.equal(notifications.length, 4, 'unchanged content is not reported')
})

t.test('a deleted file keeps its last content and is reported once, until it is back', async t => {
  const folder = t.testdir({ f: 'one' })
  const path = join(folder, 'f')
  const { next, files, notifications } = await open(t, [path])
  unlinkSync(path)
  t.equal(await next(), `Config: ${path} cannot be read: there is no such file`)
  await files.check()
  t.equal(textOf(files.contents), 'one')
  t.equal(notifications.length, 1)
  writeFileSync(path, 'two')
  t.equal(await next(), 'two')
  rmSync(folder, { recursive: true })
  t.match(await next(), /no such file/, 'and again the next time')
  mkdirSync(folder)
  writeFileSync(path, 'three')
  await files.check()
  t.equal(await next(), 'three')
  writeFileSync(path, 'four')
  t.equal(await next(), 'four', 'in a folder that was replaced')
})

t.test('a mounted volume whose ..data link is swapped is reported once for all its files', async t => {
  const folder = t.testdir()
  const put = (version: string): void => {
    mkdirSync(join(folder, version))
    for (const name of ['crt', 'key']) writeFileSync(join(folder, version, name), `${name}-${version}`)
    symlinkSync(version, join(folder, '..tmp'))
    renameSync(join(folder, '..tmp'), join(folder, '..data'))
  }
  put('..1')
  for (const name of ['crt', 'key']) symlinkSync(`..data/${name}`, join(folder, name))
  const { next, notifications, files } = await open(t, [join(folder, 'crt'), join(folder, 'key')])
  for (const version of ['..2', '..3', '..4']) {
    put(version)
    t.equal(await next(), `crt-${version}+key-${version}`)
    rmSync(join(folder, `..${Number(version.slice(2)) - 1}`), { recursive: true })
  }
  await files.check()
  t.equal(notifications.length, 3)
})

t.test('a symbolic link to a file elsewhere is followed', async t => {
  const folder = t.testdir({ real: { f: 'one' }, links: {} })
  const path = join(folder, 'links/f')
  symlinkSync('../real/f', path)
  const { next } = await open(t, [path])
  writeFileSync(join(folder, 'real/f'), 'two')
  t.equal(await next(), 'two')
})

t.test('without file system notifications the files are checked periodically', async t => {
  const folder = t.testdir({ f: 'one' })
  const path = join(folder, 'f')
  let tick = (): void => {}
  const waits: number[] = []
  const { next } = await open(t, [path], {
    watchFolder: () => { throw new Error('no space left for watches') },
    after: (milliseconds, then) => { waits.push(milliseconds); tick = then; return () => {} }
  })
  for (const text of ['two', 'three']) {
    writeFileSync(path, text)
    const before = waits.length
    tick()
    t.equal(await next(), text)
    while (waits.length === before) await new Promise(resolve => { setImmediate(resolve) })
  }
  t.same(waits, [60_000, 60_000, 60_000])
})

t.test('a burst of changes causes one check, and changes during a check cause another', async t => {
  const folder = t.testdir({ f: '0' })
  const path = join(folder, 'f')
  let release = (): void => {}
  const seen: string[] = []
  let both = (): void => {}
  const done = new Promise<void>(resolve => { both = resolve })
  const { files } = await open(t, [path], {
    settle: 60_000,
    onChange: async contents => {
      seen.push(textOf(contents))
      if (seen.length === 2) return both()
      await new Promise<void>(resolve => { release = resolve })
    }
  })
  writeFileSync(path, '1')
  writeFileSync(path, '2')
  const looking = files.check()
  while (seen.length === 0) await new Promise(resolve => { setImmediate(resolve) })
  writeFileSync(path, '3')
  void files.check()
  void files.check()
  release()
  await Promise.all([looking, done])
  t.same(seen, ['2', '3'])
})

t.test('refused content is reported once, and the next content is tried', async t => {
  const folder = t.testdir({ f: 'good' })
  const path = join(folder, 'f')
  const taken: string[] = []
  const { next, files, notifications } = await open(t, [path], {
    onChange: contents => {
      const text = textOf(contents)
      if (text === 'bad') throw new Error('it makes no sense')
      taken.push(text)
    }
  })
  writeFileSync(path, 'bad')
  t.equal(await next(), `Config: the new content of ${path} is not taken: it makes no sense`)
  await files.check()
  t.equal(notifications.length, 1)
  writeFileSync(path, 'better')
  await files.check()
  t.same(taken, ['better'])
})

t.test('files that cannot be read at the start fail the start', async t => {
  const folder = t.testdir({ f: 'too much' })
  const { options } = listener()
  await t.rejects(WatchedFiles.open({ paths: [join(folder, 'none')], ...options }), {
    code: 'Config', message: /no such file/
  })
  await t.rejects(WatchedFiles.open({ paths: [folder], ...options }), {
    code: 'Config', message: /not an ordinary file/
  })
  await t.rejects(WatchedFiles.open({ paths: [join(folder, 'f')], maxBytes: 3, ...options }), {
    code: 'TooLarge', message: /larger than 3 bytes/
  })
})

t.test('nothing is reported after close', async t => {
  const folder = t.testdir({ f: 'one' })
  const path = join(folder, 'f')
  const { files, notifications } = await open(t, [path])
  writeFileSync(path, 'two')
  const looking = files.check()
  files.close()
  await looking
  await files.check()
  t.same(notifications, [])
})

t.test('a folder that is replaced as a whole is followed', async t => {
  const folder = t.testdir({ in: { f: 'one' } })
  const path = join(folder, 'in/f')
  const { next } = await open(t, [path])
  renameSync(join(folder, 'in'), join(folder, 'out'))
  mkdirSync(join(folder, 'in'))
  writeFileSync(path, 'two')
  t.equal(await next(), 'two')
  writeFileSync(path, 'three')
  t.equal(await next(), 'three')
})

t.test('a change during the first read of the files is reported', async t => {
  const folder = t.testdir({ f: '' })
  const path = join(folder, 'f')
  let changed = (): void => {}
  const state: { made?: Awaited<ReturnType<typeof open>> } = {}
  const opening = open(t, [path], {
    watchFolder: (_folder, onChange) => {
      changed = onChange
      return Object.assign(new EventEmitter(), { close: () => {} }) as unknown as FSWatcher
    }, // the only part that is used
    after: (milliseconds, then) => { if (milliseconds < 1000) then(); return () => {} }
  }).then(made => { state.made = made })
  let written = 0
  for (; state.made === undefined; written++) {
    writeFileSync(path, String(written))
    changed()
    await new Promise(resolve => { setImmediate(resolve) })
  }
  await opening
  while (textOf(state.made?.files.contents ?? new Map()) !== String(written - 1)) {
    await new Promise(resolve => { setImmediate(resolve) })
  }
  t.ok(written > 0)
})
