/** The resources of autoscaling. */
import { horizontalPodAutoscalers } from './horizontalpodautoscalers.js'

export const autoscaling = [horizontalPodAutoscalers]
