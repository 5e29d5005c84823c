/** What a node agent reads in the manifests of this folder: a pod's command and probes. */
import { request as httpRequest } from 'node:http'
import { request as httpsRequest } from 'node:https'
import { parse } from 'yaml'

export interface Probe {
  readonly httpGet: {
    readonly scheme: 'HTTP' | 'HTTPS', readonly host: string, readonly port: number, readonly path: string
  }
}

export interface Container {
  readonly image: string
  readonly command?: readonly string[]
  readonly args?: readonly string[]
  readonly startupProbe: Probe
  readonly livenessProbe: Probe
  readonly readinessProbe?: Probe
  readonly securityContext: unknown
  readonly volumeMounts: ReadonlyArray<{ readonly name: string, readonly mountPath: string }>
}

export interface Pod {
  readonly metadata: { readonly name: string }
  readonly spec: {
    readonly containers: readonly [Container], readonly volumes: ReadonlyArray<{ readonly name: string }>,
    readonly terminationGracePeriodSeconds?: number
  }
}

/** @param text one of the manifests, filled in by prepare.ts */
export const podOf = (text: string): Pod => parse(text) as Pod

/** The command with its arguments, without the program that the image names. */
export const argumentsOf = ({ command = [], args = [] }: Container): string[] => [...command.slice(1), ...args]

/** What says that it is ready; etcd's pod has no probe of its own for that. */
export const readinessOf = ({ readinessProbe, livenessProbe }: Container): Probe => readinessProbe ?? livenessProbe

/** Milliseconds until a probe counts as failed. */
const TIMEOUT_MS = 5000

/** The status code, whichever certificate the server presents; 0 if there is no response in time. */
export function probe ({ httpGet: { scheme, ...options } }: Probe): Promise<number> {
  const request = scheme === 'HTTPS' ? httpsRequest : httpRequest
  return new Promise(resolve => {
    const sent = request({ ...options, agent: false, timeout: TIMEOUT_MS, rejectUnauthorized: false }, response => {
      response.resume()
      resolve(response.statusCode ?? 0)
    })
    sent.on('error', () => { resolve(0) }).on('timeout', () => { sent.destroy(new Error('no response in time')) })
    sent.end()
  })
}
