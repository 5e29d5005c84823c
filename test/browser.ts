/**
 * Debian's Chromium without a window, driven over a pipe by the DevTools protocol: what a page contains, asks for,
 * complains about and looks like.
 */
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Readable, Writable } from 'node:stream'
import { setTimeout as sleep } from 'node:timers/promises'
import { chromiumProgram } from './tools.js'
import type { Json, Test } from './build.js'

interface Look { readonly dark?: boolean, readonly width?: number, readonly height?: number }

export interface Browser {
  /** Loads a page; resolves when it has loaded and the browser is idle. */
  readonly open: (url: string, headers?: Record<string, string>) => Promise<Json>
  /** The value of an expression in the page. */
  // eslint-disable-next-line @typescript-eslint/no-explicit-any -- answers are looked into freely
  readonly evaluate: (expression: string) => Promise<any>
  /** The whole page as a PNG. */
  readonly screenshot: (look?: Look) => Promise<Buffer>
  /** Changes how the page is shown. */
  readonly look: (look: Look) => Promise<void>
  /**
   * URLs of requests since the last page was opened, and errors and warnings of the console, of the network and of
   * policies.
   */
  readonly requests: readonly string[]
  readonly complaints: readonly string[]
  readonly call: (method: string, params?: object) => Promise<Json>
}

const ATTEMPTS = 200

/** Its processes may still write for a moment after they were killed. */
async function removed (folder: string): Promise<void> {
  for (let attempt = 1; ; attempt++) {
    try {
      rmSync(folder, { recursive: true, force: true })
      return
    } catch (error) {
      if (attempt === ATTEMPTS) throw error
      await sleep(25)
    }
  }
}

export async function browser (t: Test): Promise<Browser> {
  const { path, env } = chromiumProgram()
  const profile = mkdtempSync(join(tmpdir(), 'chromium-'))
  const options = [
    '--headless', '--no-sandbox', '--disable-gpu', '--disable-dev-shm-usage', '--no-first-run',
    '--ignore-certificate-errors', '--disable-background-networking', '--disable-component-update', '--hide-scrollbars',
    '--remote-debugging-pipe', `--user-data-dir=${profile}`, 'about:blank'
  ]
  // a group of its own, which ends as one; all of it ends with the pipe, too
  const child = spawn(path, options, {
    env: { ...process.env, ...env, HOME: profile },
    stdio: ['ignore', 'ignore', 'ignore', 'pipe', 'pipe'],
    detached: true
  })
  t.teardown(async () => {
    if (child.exitCode === null && child.signalCode === null && child.pid !== undefined) {
      const ended = once(child, 'exit')
      process.kill(-child.pid, 'SIGKILL')
      await ended
    }
    await removed(profile)
  })
  const input = child.stdio[3] as Writable
  const output = child.stdio[4] as Readable
  input.on('error', () => {})

  const waiting = new Map<number, { resolve: (value: Json) => void, reject: (error: Error) => void }>()
  const requests: string[] = []
  const complaints: string[] = []
  let documents: Json[] = []
  const seen: Record<string, (params: Json) => void> = {
    'Network.requestWillBeSent': ({ request }) => {
      if (!String(request.url).startsWith('data:')) requests.push(request.url)
    },
    'Network.responseReceived': ({ response, type }) => { if (type === 'Document') documents.push(response) },
    'Log.entryAdded': ({ entry }) => {
      if (entry.level !== 'info' && entry.level !== 'verbose') complaints.push(entry.text)
    },
    'Runtime.consoleAPICalled': ({ type, args }) => {
      complaints.push(`console.${String(type)} ${JSON.stringify(args)}`)
    },
    'Runtime.exceptionThrown': ({ exceptionDetails }) => { complaints.push(exceptionDetails.text) },
    'Audits.issueAdded': ({ issue }) => { complaints.push(JSON.stringify(issue)) },
    'Page.javascriptDialogOpening': ({ message }) => { complaints.push(`dialog ${String(message)}`) }
  }
  const events = new Set<(method: string) => void>()
  let text = ''
  output.setEncoding('utf8')
  output.on('data', (more: string) => {
    const messages = (text + more).split('\0')
    text = messages.pop() ?? ''
    for (const message of messages) {
      const { id, method, params, result, error } = JSON.parse(message) as Json
      if (id === undefined) {
        seen[method]?.(params)
        for (const event of events) event(method)
      } else if (error === undefined) waiting.get(id)?.resolve(result)
      else waiting.get(id)?.reject(new Error(`${String(error.message)} ${String(error.data ?? '')}`))
    }
  })
  child.once('exit', code => {
    for (const { reject } of waiting.values()) reject(new Error(`chromium has ended with ${code}`))
  })

  let last = 0
  const session: { sessionId?: string } = {}
  const call = (method: string, params: object = {}): Promise<Json> => new Promise((resolve, reject) => {
    const id = ++last
    waiting.set(id, { resolve, reject })
    input.write(`${JSON.stringify({ id, method, params, ...session })}\0`)
  })
  const { targetInfos } = await call('Target.getTargets')
  const { targetId } = targetInfos.find(({ type }: Json) => type === 'page')
  session.sessionId = String((await call('Target.attachToTarget', { targetId, flatten: true })).sessionId)
  for (const domain of ['Page', 'Network', 'Log', 'Runtime', 'Audits']) await call(`${domain}.enable`)

  const look: Browser['look'] = async ({ dark = false, width = 1200, height = 900 }) => {
    await call('Emulation.setEmulatedMedia', {
      features: [{ name: 'prefers-color-scheme', value: dark ? 'dark' : 'light' }]
    })
    await call('Emulation.setDeviceMetricsOverride', { width, height, deviceScaleFactor: 1, mobile: width < 600 })
  }
  return {
    call,
    requests,
    complaints,
    look,
    open: async (url, headers = {}) => {
      requests.length = complaints.length = 0
      documents = []
      await call('Network.setExtraHTTPHeaders', { headers })
      const loaded = new Promise<void>(resolve => {
        const event = (method: string): void => {
          if (method !== 'Page.loadEventFired') return
          events.delete(event)
          resolve()
        }
        events.add(event)
      })
      const { errorText } = await call('Page.navigate', { url })
      if (errorText !== undefined) throw new Error(`${url}: ${String(errorText)}`)
      await loaded
      await call('Runtime.evaluate', {
        expression: 'new Promise(resolve => requestIdleCallback(resolve))', awaitPromise: true
      })
      return documents[0] ?? {}
    },
    evaluate: async expression => {
      const { result, exceptionDetails } = await call('Runtime.evaluate', {
        expression, returnByValue: true, awaitPromise: true
      })
      if (exceptionDetails !== undefined) throw new Error(JSON.stringify(exceptionDetails))
      return result.value
    },
    screenshot: async shown => {
      if (shown !== undefined) await look(shown)
      return Buffer.from((await call('Page.captureScreenshot', { captureBeyondViewport: true })).data, 'base64')
    }
  }
}
