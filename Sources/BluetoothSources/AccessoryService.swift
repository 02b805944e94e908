// SPDX-FileCopyrightText: 2026 The Linnet contributors
// SPDX-License-Identifier: Apache-2.0

/// The service by which an application on a phone tells a receiver from other devices, before and after pairing. It offers
/// nothing to connect to.
package enum AccessoryService {
    /// Chosen at random, once and for all.
    package static let uuid = "a459c679-419f-40d9-8e83-e8bfd822a08e"

    /// The record of the service for BlueZ, which adds it to those that the adapter shows.
    static let record = """
        <?xml version="1.0" encoding="UTF-8" ?>
        <record>
          <attribute id="0x0001"><sequence><uuid value="\(uuid)" /></sequence></attribute>
          <attribute id="0x0005"><sequence><uuid value="0x1002" /></sequence></attribute>
          <attribute id="0x0100"><text value="Linnet" /></attribute>
        </record>
        """

    static let profileInterface = """
        <node><interface name="org.bluez.Profile1">
        <method name="Release"/>
        <method name="NewConnection">
        <arg type="o" direction="in"/><arg type="h" direction="in"/><arg type="a{sv}" direction="in"/>
        </method>
        <method name="RequestDisconnection"><arg type="o" direction="in"/></method>
        </interface></node>
        """

    static let advertisementInterface = """
        <node><interface name="org.bluez.LEAdvertisement1">
        <method name="Release"/>
        <property name="Type" type="s" access="read"/>
        <property name="ServiceUUIDs" type="as" access="read"/>
        </interface></node>
        """
}
