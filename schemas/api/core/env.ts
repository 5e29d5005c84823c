import { bool, one, string, type Static } from '../../language/declare.js'
import {
  ConfigMapEnvSource, ConfigMapKeySelector, ObjectFieldSelector, ResourceFieldSelector, SecretEnvSource,
  SecretKeySelector
} from './references-to-data.js'
import { message } from './package.js'
import { validateEnvVar } from './rules/env.js'

export type FileKeySelector = Static<typeof FileKeySelector>
export const FileKeySelector = message('FileKeySelector', 'A key of a file in a volume, with lines of KEY=VALUE.', {
  volumeName: string(1, 'Name of the volume, an emptyDir, in the pod.', { required: true }),
  path: string(2, 'Path of the file in the volume.', { required: true }),
  key: string(3, 'The key in the file.', { required: true }),
  optional: bool(4, 'Whether the file or key may be missing; by default not.', { pointer: true, default: false })
}, { structType: 'atomic' })

export type EnvVarSource = Static<typeof EnvVarSource>
export const EnvVarSource = message('EnvVarSource', 'Where the value of an environment variable comes from.', {
  fieldRef: one(1, 'Field of the pod to take.', ObjectFieldSelector, { pointer: true }),
  resourceFieldRef: one(
    2, 'Resource limit or request of a container to take.', ResourceFieldSelector, { pointer: true }
  ),
  configMapKeyRef: one(3, 'Key of a config map to take.', ConfigMapKeySelector, { pointer: true }),
  secretKeyRef: one(4, 'Key of a secret to take.', SecretKeySelector, { pointer: true }),
  fileKeyRef: one(5, 'Key of a file in a volume to take.', FileKeySelector, {
    pointer: true, gate: 'EnvFiles', since: '1.34'
  })
})

export type EnvVar = Static<typeof EnvVar>
export const EnvVar = message('EnvVar', 'An environment variable of a container.', {
  name: string(1, 'Name of the variable.', { required: true }),
  value: string(2, 'Value of the variable, in which $(NAME) refers to earlier variables.'),
  valueFrom: one(3, 'Where to get the value; not together with value.', EnvVarSource, { pointer: true })
}, { validate: (variable, at, report) => { validateEnvVar(variable, at, report) } })

export type EnvFromSource = Static<typeof EnvFromSource>
export const EnvFromSource = message('EnvFromSource', 'A source whose entries all become environment variables.', {
  prefix: string(1, 'Text put before each name.'),
  configMapRef: one(2, 'Config map to take entries from.', ConfigMapEnvSource, { pointer: true }),
  secretRef: one(3, 'Secret to take entries from.', SecretEnvSource, { pointer: true })
})
