/** JobTemplate (batch/v1beta1), which nothing serves. */
import { one } from '../../language/declare.js'
import type { Static } from '../../language/declare.js'
import { metadata } from '../../meta/object.js'
import { apiPackage } from '../../language/declare.js'
import { JobTemplateSpec } from './v1beta1.js'

const { kind } = apiPackage('batch', 'v1beta1', 'io.orch.api.batch.v1beta1')

export type JobTemplate = Static<typeof JobTemplate>
export const JobTemplate = kind('JobTemplate', 'A template from which jobs are made.', {
  metadata,
  template: one(2, 'The jobs that are made from it.', JobTemplateSpec)
})
