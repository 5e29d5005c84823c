/** What the forms of a body are called on the wire, in Content-Type, in Accept and in `--storage-media-type`. */
export const JSON_TYPE = 'application/json'
export const YAML_TYPE = 'application/yaml'
export const PROTOBUF_TYPE = 'application/vnd.orch.protobuf'

/** A PATCH that says what an object must have; JSON is YAML. */
export const APPLY_TYPE = 'application/apply-patch+yaml'
export const STRATEGIC_MERGE_PATCH_TYPE = 'application/strategic-merge-patch+json'
const CUSTOM_PATCH_TYPES = ['application/json-patch+json', 'application/merge-patch+json'] as const
const PATCH_TYPES = [...CUSTOM_PATCH_TYPES, STRATEGIC_MERGE_PATCH_TYPE] as const
export type PatchType = (typeof PATCH_TYPES)[number]

/**
 * What PATCH takes beside apply. Types without a protobuf form are those defined at run time, which say
 * nothing of how their lists merge.
 */
export const patchTypesOf = ({ protobuf }: { readonly protobuf: boolean }): readonly PatchType[] => protobuf ? PATCH_TYPES : CUSTOM_PATCH_TYPES
