/** Validation of environment variables. */
import { isOn } from '../../../gates.js'
import { checkName, forgiving, invalid, notFound, required } from '../../../rules/findings.js'
import type { Report } from '../../../language/declare.js'
import { dnsLabel, dnsSubdomain, envName, printableName } from '../../../names.js'
import type { EnvFromSource, EnvVar, EnvVarSource } from '../env.js'
import type { PodSpec } from '../pod-spec.js'
import { checkNoWayUp } from './paths.js'
import { checkFieldRef, checkResourceFieldRef, fieldsOfEnv } from './data-references.js'
import { containersOf } from './visit.js'

/** Later releases allow what others refuse, who leave what they find. */
function checkVariableName (report: Report, field: string, name: string): void {
  const wrong = envName(name)
  if (wrong.length === 0) return
  if (isOn(report, 'RelaxedEnvironmentVariableValidation')) checkName(report, field, name, printableName)
  else checkName(printableName(name).length === 0 ? forgiving(report) : report, field, name, envName)
}

export function validateEnvVar ({ name, value = '', valueFrom }: EnvVar, at: string, report: Report): void {
  if (name !== '') checkVariableName(report, `${at}.name`, name)
  if (valueFrom !== undefined) checkValueFrom(valueFrom, value, `${at}.valueFrom`, report)
}

/** Exactly one source, and no literal value besides it. */
function checkValueFrom (
  { fieldRef, resourceFieldRef, configMapKeyRef, secretKeyRef, fileKeyRef }: EnvVarSource, value: string, at: string,
  report: Report
): void {
  if (fieldRef !== undefined) checkFieldRef(fieldRef, fieldsOfEnv(report), `${at}.fieldRef`, report)
  if (resourceFieldRef !== undefined) checkResourceFieldRef(resourceFieldRef, false, `${at}.resourceFieldRef`, report)
  if (fileKeyRef !== undefined) {
    if (fileKeyRef.key !== '') checkName(report, `${at}.fileKeyRef.key`, fileKeyRef.key, printableName)
    checkNoWayUp(fileKeyRef.path, `${at}.fileKeyRef.path`, report)
    if (fileKeyRef.volumeName !== '') {
      checkName(report, `${at}.fileKeyRef.volumeName`, fileKeyRef.volumeName, dnsLabel)
    }
  }
  const sources = [fieldRef, resourceFieldRef, configMapKeyRef, secretKeyRef, fileKeyRef].filter(source =>
    source !== undefined).length
  if (sources === 0) {
    invalid(
      report, at, '', 'must specify one of: `fieldRef`, `resourceFieldRef`, `configMapKeyRef` or `secretKeyRef`'
    )
  } else if (value !== '') invalid(report, at, '', 'may not be specified when `value` is not empty')
  else if (sources > 1) invalid(report, at, '', 'may not have more than one field specified at a time')
}

/** Variables take files of empty directories only, which an init container fills. */
export function checkFileKeys (spec: PodSpec, at: string, report: Report): void {
  for (const [{ env = [] }, path] of containersOf(spec, at)) {
    for (const [index, { valueFrom }] of env.entries()) {
      const name = valueFrom?.fileKeyRef?.volumeName
      if (name === undefined) continue
      const field = `${path}.env[${index}].valueFrom.fileKeyRef.volumeName`
      const volume = spec.volumes?.find(candidate => candidate.name === name)
      if (volume === undefined) notFound(report, field, name)
      else if (volume.emptyDir === undefined) invalid(report, field, name, 'referenced volume must be of type emptyDir')
    }
  }
}

/** @param at path of the list, where upstream reports a missing or ambiguous source */
export function checkEnvFrom (sources: readonly EnvFromSource[], at: string, report: Report): void {
  sources.forEach(({ prefix = '', configMapRef, secretRef }, index) => {
    if (prefix !== '') checkVariableName(report, `${at}[${index}].prefix`, prefix)
    if (configMapRef !== undefined) checkSource(configMapRef.name, `${at}[${index}].configMapRef.name`, report)
    if (secretRef !== undefined) checkSource(secretRef.name, `${at}[${index}].secretRef.name`, report)
    if (configMapRef === undefined &&
      secretRef === undefined) invalid(report, at, '', 'must specify one of: `configMapRef` or `secretRef`')
    else if (configMapRef !== undefined && secretRef !== undefined) {
      invalid(report, at, '', 'may not have more than one field specified at a time')
    }
  })
}

function checkSource (name = '', field: string, report: Report): void {
  if (name === '') return required(report, field)
  for (const detail of dnsSubdomain(name, true)) invalid(report, field, name, detail)
}
