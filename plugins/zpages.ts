/**
 * `/statusz` and `/flagz`: since when and as what this server runs, and with which flags. Text for people, or a
 * document for who asks for its version. Authorized like any path. Feature gates ComponentStatusz and ComponentFlagz.
 */
import type { FastifyReply } from 'fastify'
import { warn } from '../answers/heads.js'
import { plugin } from './shared/plugin.js'
import { served, type ServedRequest } from '../answers/request-context.js'
import { viewOf } from '../answers/view.js'
import { toYaml } from '../schemas/codec/yaml/yaml-write.js'
import { JSON_TYPE, YAML_TYPE } from '../schemas/media-types.js'
import { COMPILER, RELEASE_NAME } from '../schemas/meta/release.js'
import { STATE_GROUPS } from '../schemas/public-names.js'
import { notAcceptable } from '../schemas/status.js'
import { parseAccept } from './shared/accept.js'
import { acceptOf } from './shared/client-names.js'
import type { Settings } from './shared/server.js'

const VERSIONS: ReadonlySet<string> = new Set(['v1beta1', 'v1alpha1'])
const DEPRECATED = 'v1alpha1'
const TEXT: ReadonlySet<string> = new Set(['text/plain', 'text/*', '*/*'])

type Kind = 'Statusz' | 'Flagz'

/** Paths of the server's state, for lists of paths. */
export function pathsOf ({ featureGates: gates, flags }: Pick<Settings, 'featureGates' | 'flags'>): string[] {
  return [
    ...gates.enabled('ComponentFlagz') && flags !== undefined ? ['/flagz'] : [], '/healthz', '/livez', '/metrics',
    ...gates.release === RELEASE_NAME ? [] : ['/metrics/slis'], '/readyz',
    ...gates.enabled('ComponentStatusz') ? ['/statusz'] : [], '/version'
  ]
}

/** What somebody accepts: text, or a document. @throws StatusError 406 */
function formOf (header: string | undefined, kind: Kind): { readonly type: string, readonly apiVersion: string } {
  for (const { type, parameters, quality } of parseAccept(header?.trim() || '*/*')) {
    if (quality === 0) continue
    const { as, g = '', v = '' } = parameters
    if (TEXT.has(type)) return { type: 'text/plain', apiVersion: '' }
    if ((type === JSON_TYPE || type === YAML_TYPE) && as === kind && STATE_GROUPS.has(g) && VERSIONS.has(v)) {
      return { type, apiVersion: `${g}/${v}` }
    }
  }
  const document = `;v=v1beta1;g=config.orch.io;as=${kind}`
  throw notAcceptable(['text/plain', `${JSON_TYPE}${document}`, `${YAML_TYPE}${document}`])
}

const two = (value: number): string => String(value).padStart(2, '0')

export default plugin()(async fastify => {
  const { orchClock: clock, orchSettings: settings } = fastify
  const { featureGates: { release }, flags, statePaths: paths } = settings
  const started = clock.wall()

  const serve = (kind: Kind, members: () => object, lines: () => string[]): void => {
    const path = `/${kind.toLowerCase()}`
    const answer = (request: ServedRequest, reply: FastifyReply): FastifyReply => {
      const name = viewOf(request.orch).words('orch-apiserver')
      const { type, apiVersion } = formOf(acceptOf(request), kind)
      reply.header('x-content-type-options', 'nosniff').type(type === 'text/plain' ? `${type}; charset=utf-8` : type)
      if (apiVersion === '') {
        return reply.send(`\n${name} ${path.slice(1)}\nWarning: This endpoint is not meant to be machine parseable, ` +
          'has no formatting compatibility guarantees and is for debugging purposes only.\n\n' +
          lines().map(line => `${line}\n`).join(''))
      }
      const [group = '', version = ''] = apiVersion.split('/')
      if (version === DEPRECATED) {
        warn(reply, [`${apiVersion} ${kind} is deprecated in v1.36+; use ${group}/v1beta1 ${kind}`], request.orch)
      }
      const document = { kind, apiVersion, metadata: { name }, ...members() }
      return reply.send(type === JSON_TYPE ? `${JSON.stringify(document)}\n` : toYaml(document))
    }
    fastify.get(path, (request, reply) => answer(served(request), reply))
  }

  if (paths.includes('/statusz')) {
    const uptime = (): number => Math.floor((clock.wall() - started) / 1000)
    serve('Statusz', () => ({
      startTime: `${new Date(started).toISOString().slice(0, -5)}Z`,
      uptimeSeconds: uptime(),
      goVersion: '',
      binaryVersion: `${release}.0`,
      emulationVersion: release,
      paths
    }), () => {
      const [seconds, since] = [uptime(), new Date(started)]
      return [
        `Started: ${since.toUTCString()}`,
        `Up: ${Math.floor(seconds / 3600)} hr ${two(Math.floor(seconds / 60) % 60)} min ${two(seconds % 60)} sec`,
        `Compiler: ${COMPILER}`,
        `Binary version: ${release}.0`,
        `Emulation version: ${release}`,
        `Paths: ${paths.join(' ')}`
      ]
    })
  }
  if (paths.includes('/flagz')) {
    serve('Flagz', () => ({ flags }), () => Object.entries(flags ?? {}).map(([name, value]) => `${name}=${value}`))
  }
}, { name: 'orch/zpages', fastify: '5.x', decorators: { fastify: ['orchClock', 'orchSettings'], request: ['orch'] } })
