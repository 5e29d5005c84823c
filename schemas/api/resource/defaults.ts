/** Defaults of requests and devices that depend on other fields. */

interface Counted { allocationMode?: string | undefined, count?: number | bigint | undefined }

/** A request is for one device, unless it says otherwise. */
export function countDevices (request: Counted): void {
  if ((request.allocationMode ?? '') === '') request.allocationMode = 'ExactCount'
  if (request.allocationMode === 'ExactCount' && Number(request.count ?? 0) === 0) request.count = 1
}

/** As `countDevices`, for requests of v1beta1 that have no alternatives. */
export function countNamed (request: Counted & { readonly deviceClassName?: string | undefined }): void {
  if ((request.deviceClassName ?? '') !== '') countDevices(request)
}

export function multiplyOnce (mapping: { allocationMultiplier?: string | undefined }): void {
  mapping.allocationMultiplier ??= '1'
}
