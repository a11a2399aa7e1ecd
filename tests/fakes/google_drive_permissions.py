"""The permissions of items in the fake Google Drive, and the call that lists them."""

from tests.fakes.google_drive_calls import Calls, partial_answer
from tests.fakes.google_drive_wire import ApiError, flag, not_found, only_known
from tests.fakes.loopback import Answer, Request


class PermissionCalls(Calls):
    """permissions.list: only for accounts that may share the item, or that are in its drive."""

    def list(self, request: Request, account: str, file_id: str) -> Answer:
        only_known(request.params, "supportsAllDrives", "pageSize", "pageToken")
        item = self.visible_item(account, file_id, flag(request.params, "supportsAllDrives"))
        if item is None:
            raise not_found(file_id)
        if not item.shows_permissions(account):
            message = "The user does not have sufficient permissions for this file."
            raise ApiError(403, "insufficientFilePermissions", message)
        page, more = self.page(request, account, item.permissions, most=100)
        body = {"kind": "drive#permissionList", "permissions": page}
        return partial_answer("PermissionList", request, body | more)
