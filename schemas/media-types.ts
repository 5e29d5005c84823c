/** Media types of bodies, for Content-Type, Accept and `--storage-media-type`. */
export const JSON_TYPE = 'application/json'
export const YAML_TYPE = 'application/yaml'
export const PROTOBUF_TYPE = 'application/vnd.orch.protobuf'
/** Only of the front page. */
export const HTML_TYPE = 'text/html'

/** Server-side apply. */
export const APPLY_TYPE = 'application/apply-patch+yaml'
export const STRATEGIC_MERGE_PATCH_TYPE = 'application/strategic-merge-patch+json'
export const JSON_PATCH_TYPE = 'application/json-patch+json'
export const MERGE_PATCH_TYPE = 'application/merge-patch+json'
const CUSTOM_PATCH_TYPES = [JSON_PATCH_TYPE, MERGE_PATCH_TYPE] as const
const PATCH_TYPES = [...CUSTOM_PATCH_TYPES, STRATEGIC_MERGE_PATCH_TYPE] as const
export type PatchType = (typeof PATCH_TYPES)[number]

/** Patch types besides apply. Types without protobuf are custom resources, which have no strategic merge patch. */
export const patchTypesOf = ({ protobuf }: { readonly protobuf: boolean }): readonly PatchType[] =>
  protobuf ? PATCH_TYPES : CUSTOM_PATCH_TYPES
