/** The feature gates that flags set. */
import { featureGates, type Gates } from '../schemas/gates.js'
import { gateSettings } from './feature-gates.js'
import type { Values } from './flags/index.js'

type GateFlags = Pick<Values, 'feature-gates' | 'emulated-version'>

export const gatesOf = (values: GateFlags): Gates =>
  featureGates(gateSettings(values['feature-gates']), { release: values['emulated-version'] })

/** Whether a feature gate is on, or the emulated release behaves as `schemas/behaviours.ts` has it by that name. */
export const isOn = (values: GateFlags, gate: string): boolean => gatesOf(values).enabled(gate)
