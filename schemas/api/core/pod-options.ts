/** Query options of pod logs, exec, attach, port forwarding and proxies. */
import { int64, one, bool, string, list, type Static } from '../../language/declare.js'
import { Time } from '../../meta/scalars.js'
import { kind } from './package.js'

export type PodLogOptions = Static<typeof PodLogOptions>
export const PodLogOptions = kind('PodLogOptions', 'Query parameters of reading the log of a pod.', {
  container: string(1, 'Container whose log is read; by default the only one.'),
  follow: bool(2, 'Whether to keep sending the log as it grows.'),
  previous: bool(3, 'Whether to read the log of the previous run.'),
  sinceSeconds: int64(4, 'How many seconds back the log begins; not with sinceTime.', { pointer: true }),
  sinceTime: one(5, 'From when on the log is read; not with sinceSeconds.', Time, { pointer: true }),
  timestamps: bool(6, 'Whether each line begins with its time in RFC 3339 form.'),
  tailLines: int64(7, 'Number of lines from the end of the log.', { pointer: true }),
  limitBytes: int64(8, 'Number of bytes after which the log is cut off.', { pointer: true }),
  insecureSkipTLSVerifyBackend: bool(9, 'Whether the serving certificate of the node agent goes unchecked.'),
  stream: string(10, 'Which output is read: All, Stdout or Stderr; by default all.', {
    pointer: true, since: '1.32', gate: 'PodLogsQuerySplitStreams'
  })
})

export type PodAttachOptions = Static<typeof PodAttachOptions>
export const PodAttachOptions = kind('PodAttachOptions', 'Query parameters of attaching to a running container.', {
  stdin: bool(1, 'Whether standard input is passed to the container.'),
  stdout: bool(2, 'Whether standard output is passed to the client.'),
  stderr: bool(3, 'Whether standard error is passed to the client.'),
  tty: bool(4, 'Whether a terminal is used for the call.'),
  container: string(5, 'Container to attach to; by default the only one.')
})

export type PodExecOptions = Static<typeof PodExecOptions>
export const PodExecOptions = kind('PodExecOptions', 'Query parameters of running a command in a container.', {
  stdin: bool(1, 'Whether standard input is passed to the command.'),
  stdout: bool(2, 'Whether standard output is passed to the client.'),
  stderr: bool(3, 'Whether standard error is passed to the client.'),
  tty: bool(4, 'Whether a terminal is used for the call.'),
  container: string(5, 'Container to run the command in; by default the only one.'),
  command: list(6, 'Command and arguments, run without a shell.', 'string', { required: true })
})

export type PodPortForwardOptions = Static<typeof PodPortForwardOptions>
export const PodPortForwardOptions = kind('PodPortForwardOptions', 'Query parameters of forwarding ports to a pod.', {
  ports: list(1, 'Ports to forward; required with WebSockets.', 'int32')
})

export type PodProxyOptions = Static<typeof PodProxyOptions>
export const PodProxyOptions = kind('PodProxyOptions', 'Query parameters of a proxy request to a pod.', {
  path: string(1, 'URL path in the pod.')
})

export type NodeProxyOptions = Static<typeof NodeProxyOptions>
export const NodeProxyOptions = kind('NodeProxyOptions', 'Query parameters of a proxy request to a node.', {
  path: string(1, 'URL path on the node.')
})

export type ServiceProxyOptions = Static<typeof ServiceProxyOptions>
export const ServiceProxyOptions = kind('ServiceProxyOptions', 'Query parameters of a proxy request to a service.', {
  path: string(1, 'URL path in the service, after its name and port.')
})
