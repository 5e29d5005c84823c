/** Containers of pods. */
import { int32, one, inline, bool, list, string, type FieldOptions, type Static } from '../../language/declare.js'
import { lacksDropped } from '../../language/gated.js'
import { EnvFromSource, EnvVar } from './env.js'
import { Lifecycle, Probe } from './handlers.js'
import { ResourceRequirements } from './resource-requirements.js'
import { ContainerResizePolicy, ContainerRestartRule } from './restarts.js'
import { SecurityContext } from './security-contexts.js'
import { tagOf } from './images.js'
import { message } from './package.js'
import { validateContainerPort } from './rules/ports.js'

export type ContainerPort = Static<typeof ContainerPort>
export const ContainerPort = message('ContainerPort', 'A port a container listens on.', {
  name: string(1, 'Name of the port, unique in the pod; services may refer to it.'),
  hostPort: int32(2, 'Port of the node that leads to the container.'),
  containerPort: int32(3, 'Port number in the container, from 1 to 65535.', { required: true }),
  protocol: string(4, 'Transport protocol: TCP, UDP or SCTP; by default TCP.', {
    values: ['TCP', 'UDP', 'SCTP'], closed: true, default: 'TCP'
  }),
  hostIP: string(5, 'Address of the node the host port is bound to.')
}, { validate: (port, at, report) => { validateContainerPort(port, at, report) } })

export type VolumeDevice = Static<typeof VolumeDevice>
export const VolumeDevice = message('VolumeDevice', 'A block device made available in a container.', {
  name: string(1, 'Name of a persistentVolumeClaim volume of the pod.', { required: true }),
  devicePath: string(2, 'Path of the device in the container.', { required: true })
})

export type VolumeMount = Static<typeof VolumeMount>
export const VolumeMount = message('VolumeMount', 'A volume mounted into a container.', {
  name: string(1, 'Name of the volume in the pod.', { required: true }),
  readOnly: bool(2, 'Whether the mount is read-only; by default not.'),
  recursiveReadOnly: string(7, 'Whether mounts below are read-only too: Disabled, IfPossible or Enabled.', {
    pointer: true, values: ['Disabled', 'IfPossible', 'Enabled'], gate: 'RecursiveReadOnlyMounts', since: '1.30'
  }),
  mountPath: string(3, 'Path in the container to mount at, without a colon.', { required: true }),
  subPath: string(4, 'Path in the volume to mount; by default its root.'),
  mountPropagation: string(5, 'How mounts spread: None, HostToContainer or Bidirectional; by default None.', {
    pointer: true, values: ['None', 'HostToContainer', 'Bidirectional'], closed: 'ruled'
  }),
  subPathExpr: string(6, 'Path in the volume to mount, in which $(NAME) is expanded.')
})

const restartPolicyWith = (options: FieldOptions) => string(
  24, 'When it is restarted; by default as its pod. Always lets an init container run beside those that follow.',
  { pointer: true, values: ['Always', 'Never', 'OnFailure'], since: '1.28', ...options }
)

/** Shared by both kinds of containers; validation forbids some in ephemeral ones. */
const fieldsWith = (restarts: FieldOptions) => ({
  name: string(1, 'Name of the container, unique in its pod.', { required: true }),
  image: string(2, 'Image the container runs.'),
  command: list(3, 'Program and first arguments, run instead of the entrypoint of the image.', 'string'),
  args: list(4, 'Arguments of the program, used instead of those of the image.', 'string'),
  workingDir: string(5, 'Working directory of the program; by default that of the image.'),
  ports: list(6, 'Ports the container listens on.', ContainerPort, {
    listType: 'map', listMapKeys: ['containerPort', 'protocol'], patchStrategy: 'merge', patchMergeKey: 'containerPort'
  }),
  envFrom: list(19, 'Sources whose entries all become environment variables.', EnvFromSource),
  env: list(7, 'Environment variables set in the container.', EnvVar, {
    patchStrategy: 'merge', patchMergeKey: 'name'
  }),
  resources: one(8, 'Compute resources the container needs and may use.', ResourceRequirements),
  resizePolicy: list(23, 'What a change of resources means for the running container.', ContainerResizePolicy, {
    listType: 'atomic', gate: 'InPlacePodVerticalScaling', since: '1.27'
  }),
  restartPolicy: restartPolicyWith(restarts),
  restartPolicyRules: list(
    25, 'Restarts by exit code, before restartPolicy; the first that matches counts.', ContainerRestartRule,
    { listType: 'atomic', gate: 'ContainerRestartRules', since: '1.34' }
  ),
  volumeMounts: list(9, 'Volumes mounted into the filesystem of the container.', VolumeMount, {
    patchStrategy: 'merge', patchMergeKey: 'mountPath'
  }),
  volumeDevices: list(21, 'Block devices made available in the container.', VolumeDevice, {
    patchStrategy: 'merge', patchMergeKey: 'devicePath'
  }),
  livenessProbe: one(10, 'Check that restarts the container when it fails.', Probe, { pointer: true }),
  readinessProbe: one(11, 'Check that takes the container out of service while it fails.', Probe, { pointer: true }),
  startupProbe: one(22, 'Check that must succeed before the other probes begin.', Probe, { pointer: true }),
  lifecycle: one(12, 'What runs after the container starts and before it stops.', Lifecycle, { pointer: true }),
  terminationMessagePath: string(
    13, 'File whose content becomes the termination message; by default /dev/termination-log.',
    { default: '/dev/termination-log' }
  ),
  terminationMessagePolicy: string(20, 'Where the termination message comes from: File or FallbackToLogsOnError.', {
    values: ['File', 'FallbackToLogsOnError'], closed: true, ruled: true, default: 'File'
  }),
  imagePullPolicy: string(14, 'When the image is pulled: Always, Never or IfNotPresent.', {
    values: ['Always', 'Never', 'IfNotPresent'], closed: true
  }),
  securityContext: one(15, 'Privileges and identity the container runs with.', SecurityContext, { pointer: true }),
  stdin: bool(16, 'Whether a buffer for standard input is allocated.'),
  stdinOnce: bool(17, 'Whether standard input closes after the first attached client leaves.'),
  tty: bool(18, 'Whether a terminal is allocated; stdin must be true as well.')
})

/** Fills the pull policy in; a lifecycle of which a gate that is off left nothing is none. */
function complete (
  container: { image?: string | undefined, imagePullPolicy?: string | undefined, lifecycle?: object | undefined }
): void {
  container.imagePullPolicy ||= tagOf(container.image ?? '') === 'latest' ? 'Always' : 'IfNotPresent'
  const { lifecycle } = container
  if (lifecycle !== undefined && lacksDropped(lifecycle) && Object.keys(lifecycle).length === 0) {
    delete container.lifecycle
  }
}

export type Container = Static<typeof Container>
export const Container =
  message('Container', 'A program that runs in a pod.', fieldsWith({ gate: 'SidecarContainers' }), {
    defaults: complete
  })

export type EphemeralContainerCommon = Static<typeof EphemeralContainerCommon>
export const EphemeralContainerCommon = message(
  'EphemeralContainerCommon', 'Fields of an ephemeral container, like those of a container.', fieldsWith({}),
  { defaults: complete }
)

export type EphemeralContainer = Static<typeof EphemeralContainer>
export const EphemeralContainer = message('EphemeralContainer', 'A container added to a running pod, for debugging.', {
  ephemeralContainerCommon: inline(
    1, 'Fields an ephemeral container shares with an ordinary one.', EphemeralContainerCommon
  ),
  targetContainerName: string(2, 'Container whose namespaces are shared; empty for those of the pod.')
})
