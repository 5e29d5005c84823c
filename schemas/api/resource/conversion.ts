/** The form of requests and devices in v1beta1, whose members stand one level higher or lower. */
import { sameFields } from '../../conversion.js'
import type { OtherRepresentation } from '../../resource.js'
import * as v1 from './v1.js'
import * as v1beta1 from './v1beta1.js'

type Conversion<T extends v1.ResourceClaim | v1.ResourceClaimTemplate | v1.ResourceSlice> =
  Pick<OtherRepresentation<T>, 'message' | 'toStored' | 'fromStored'>

const isSet = (value: unknown): boolean => value !== undefined && value !== '' && value !== 0

function toRequest ({ name, firstAvailable, ...exact }: v1beta1.DeviceRequest): v1.DeviceRequest {
  const { deviceClassName = '', ...others } = exact
  return {
    name,
    ...Object.values(exact).some(isSet) ? { exactly: { deviceClassName, ...others } } : {},
    ...firstAvailable === undefined ? {} : { firstAvailable }
  }
}

const fromRequest = ({ name, exactly, firstAvailable }: v1.DeviceRequest): v1beta1.DeviceRequest =>
  ({ name, ...exactly, ...firstAvailable === undefined ? {} : { firstAvailable } })

/** @param convert each request */
function withRequests<One, Other> (
  spec: { readonly devices: { readonly requests?: One[] | undefined } }, convert: (request: One) => Other
) {
  const { devices: { requests, ...devices } } = spec
  return { devices: { ...devices, ...requests === undefined ? {} : { requests: requests.map(convert) } } }
}

const claims = sameFields(v1beta1.ResourceClaim, v1.ResourceClaim)
export const CLAIM: Conversion<v1.ResourceClaim> = {
  ...claims,
  toStored: object => {
    const claim = object as v1beta1.ResourceClaim // of this representation
    return claims.toStored({ ...claim, spec: withRequests(claim.spec, toRequest) } as v1.ResourceClaim)
  },
  fromStored: claim => claims.fromStored({ ...claim, spec: withRequests(claim.spec, fromRequest) } as v1.ResourceClaim)
}

const templates = sameFields(v1beta1.ResourceClaimTemplate, v1.ResourceClaimTemplate)
export const TEMPLATE: Conversion<v1.ResourceClaimTemplate> = {
  ...templates,
  toStored: object => {
    const template = object as v1beta1.ResourceClaimTemplate // of this representation
    const spec = { ...template.spec, spec: withRequests(template.spec.spec, toRequest) }
    return templates.toStored({ ...template, spec } as v1.ResourceClaimTemplate)
  },
  fromStored: template => {
    const spec = { ...template.spec, spec: withRequests(template.spec.spec, fromRequest) }
    return templates.fromStored({ ...template, spec } as v1.ResourceClaimTemplate)
  }
}

const slices = sameFields(v1beta1.ResourceSlice, v1.ResourceSlice)
export const SLICE: Conversion<v1.ResourceSlice> = {
  ...slices,
  toStored: object => {
    const slice = object as v1beta1.ResourceSlice // of this representation
    const { nodeName = '', allNodes = false, devices, ...spec } = slice.spec
    return slices.toStored({
      ...slice,
      spec: {
        ...spec,
        ...nodeName === '' ? {} : { nodeName },
        ...allNodes ? { allNodes } : {},
        ...devices === undefined ? {} : { devices: devices.map(({ name, basic }) => ({ name, ...basic })) }
      }
    } as v1.ResourceSlice)
  },
  fromStored: slice => {
    const { devices: stored, ...spec } = slice.spec
    const devices = stored?.map(({ name, ...basic }) => ({ name, basic }))
    return slices.fromStored(
      { ...slice, spec: { ...spec, ...devices === undefined ? {} : { devices } } } as v1.ResourceSlice
    )
  }
}
