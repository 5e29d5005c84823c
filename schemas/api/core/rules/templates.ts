/** Validation of pod templates. */
import { forbidden, invalid, notSupported } from '../../../rules/findings.js'
import type { Report } from '../../../language/declare.js'
import { validateAnnotations, validateLabels } from '../../../meta/metadata.js'
import type { PodTemplateSpec } from '../pod-spec.js'
import { checkPodAnnotations, checkSeccompMatches } from './annotations.js'
import { checkAppArmorMatches } from './apparmor.js'

/** As upstream, the paths of labels and annotations omit `metadata`. */
export function checkTemplateMetadata ({ metadata, spec }: PodTemplateSpec, at: string, report: Report): void {
  validateLabels(metadata.labels, `${at}.labels`, report)
  validateAnnotations(metadata.annotations, `${at}.annotations`, report)
  checkPodAnnotations(metadata.annotations, spec, `${at}.annotations`, report)
}

export function validatePodTemplate (template: PodTemplateSpec, at: string, report: Report): void {
  checkTemplateMetadata(template, at, report)
  checkSeccompMatches(template.metadata.annotations, template.spec, `${at}.spec`, report)
  checkAppArmorMatches(template, `${at}.spec`, report)
  if ((template.spec.ephemeralContainers ?? []).length > 0) {
    forbidden(report, `${at}.spec.ephemeralContainers`, 'ephemeral containers not allowed in pod template')
  }
}

/** Pods of a controller must always restart. */
export function checkRunsOn ({ spec }: PodTemplateSpec, controller: string, at: string, report: Report): void {
  if (spec.restartPolicy !== 'Always') notSupported(report, `${at}.spec.restartPolicy`, spec.restartPolicy, ['Always'])
  if (spec.activeDeadlineSeconds !== undefined) {
    forbidden(report, `${at}.spec.activeDeadlineSeconds`, `activeDeadlineSeconds in ${controller} is not Supported`)
  }
}

export function mismatch ({ metadata }: PodTemplateSpec, at: string, report: Report): void {
  invalid(report, `${at}.metadata.labels`, metadata.labels, '`selector` does not match template `labels`')
}
