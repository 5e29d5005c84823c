/**
 * AlwaysPullImages: sets imagePullPolicy to Always, so that no pod can use an image that was pulled to its node with
 * other credentials. Updates without new images stay unchanged. (Off by default.)
 */
import { pods, type Pod } from '../../schemas/api/core/pods.js'
import { pluginFor, type TypedRequest } from '../../registry/admission.js'
import { refusal } from '../refusal.js'

const LISTS = ['initContainers', 'containers', 'ephemeralContainers'] as const

export const alwaysPullImages = pluginFor<Pod>(pods, {
  name: 'AlwaysPullImages',
  operations: ['CREATE', 'UPDATE'],
  mutate: request => {
    if (!mayChangeImages(request)) return
    for (const list of LISTS) {
      for (const container of request.object?.spec[list] ?? []) container.imagePullPolicy = 'Always'
    }
  },
  validate: request => {
    if (!mayChangeImages(request)) return
    for (const list of LISTS) {
      for (const [index, { imagePullPolicy = '' }] of (request.object?.spec[list] ?? []).entries()) {
        if (imagePullPolicy !== 'Always') {
          throw refusal(
            request,
            `spec.${list}[${index}].imagePullPolicy: Unsupported value: ${JSON.stringify(imagePullPolicy)}: ` +
              'supported values: "Always"'
          )
        }
      }
    }
  }
})

function mayChangeImages ({ object, oldObject: old }: TypedRequest<Pod>): boolean {
  if (old === undefined) return true
  const imagesOf = (pod: Pod | undefined): string[] =>
    LISTS.flatMap(list => (pod?.spec[list] ?? []).map(({ image = '' }) => image))
  const oldImages = new Set(imagesOf(old))
  return imagesOf(object).some(image => !oldImages.has(image))
}
